// A dumbbell of long flows in htsim: the scenario of a longfat file, and what longfat would measure.
//
//     dumbbell_htsim SCENARIO RESULT
//
// SCENARIO has one thing to a line, as README.md beside this file says; RESULT gets the same kind of lines.
// Each flow has pipes of its own: one for what its round trip has before a queue, one for what it has behind
// it, the link included. Both directions have a queue, which data and acknowledgments share.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "route.h"
#include "scene.h"
#include "tcp.h"
#include "tcppacket.h"

namespace {

double Positive(const Record &record, const std::string &key) {
    const double value = record.Amount(key);
    if (value == 0) {
        Fail(key + " must be more than 0");
    }
    return value;
}

void Only(const Record &record, const std::string &key, const std::string &value) {
    if (record.Text(key) != value) {
        Fail("htsim has no " + key + " " + record.Text(key) + " here, only " + value);
    }
}

simtime_picosec Picoseconds(double seconds) {
    return static_cast<simtime_picosec>(std::llround(seconds * 1e12));
}

/// Something to be done at a time.
class Action : public EventSource {
public:
    explicit Action(std::function<void()> what) : EventSource("action"), m_what(std::move(what)) {}
    void At(double seconds) { eventlist().sourceIsPending(*this, Picoseconds(seconds)); }
    void doNextEvent() override { m_what(); }

private:
    std::function<void()> m_what;
};

/// htsim's queue with room for packets or bytes, and what is measured. The packet in service is in it, but does
/// not count as waiting.
class Way : public Queue {
public:
    Way(const Record &link, double sparePlace)
        : Queue(static_cast<linkspeed_bps>(Positive(link, "rate")), std::numeric_limits<mem_b>::max(),
                EventList::getTheEventList(), nullptr),
          m_inBytes(link.Text("unit") == "bytes"),
          m_room(static_cast<mem_b>(link.Amount("buffer") +
                                    sparePlace * (m_inBytes ? link.Amount("packet") : 1))) {}
    void receivePacket(Packet &packet) override {
        ++m_arrived;
        if (Level() + Size(packet) > m_room) {
            ++m_dropped;
            packet.free();
            return;
        }
        Advance();
        Queue::receivePacket(packet);
    }
    void Write(std::ostream &out) {
        Advance();
        out << " arrived " << m_arrived << " dropped " << m_dropped << " marked 0 backlog_s "
            << m_integral << "\n";
    }

protected:
    void completeService() override {
        Advance();
        Queue::completeService();
    }

private:
    mem_b Size(const Packet &packet) const { return m_inBytes ? packet.size() : 1; }
    mem_b Level() { return m_inBytes ? _queuesize : _enqueued.size(); }
    /// The integral of what waits, up to now.
    void Advance() {
        const simtime_picosec now = eventlist().now();
        if (!_enqueued.empty()) {
            const mem_b waiting = Level() - Size(*_enqueued.next_to_pop());
            m_integral += static_cast<double>(waiting) * timeAsSec(now - m_since);
        }
        m_since = now;
    }
    const bool m_inBytes;
    const mem_b m_room;
    uint64_t m_arrived = 0, m_dropped = 0;
    double m_integral = 0;
    simtime_picosec m_since = 0;
};

/// htsim's sender on a connection that is there already. Its own first packet would bring one more packet of
/// window, and a round trip that begins at time 0.
class Sender : public TcpSrc {
public:
    Sender(const Record &flow, bool whole)
        : TcpSrc(nullptr, nullptr, EventList::getTheEventList()), m_whole(whole) {
        _cwnd = Bytes(flow.Amount("initial_window"));
        _ssthresh = std::numeric_limits<uint32_t>::max();
        if (flow.Text("initial_threshold") != "none") {
            _ssthresh = Bytes(flow.Amount("initial_threshold"));
        }
        if (flow.Text("max_window") != "none") {
            _maxcwnd = Bytes(flow.Amount("max_window"));
            _cwnd = std::min(_cwnd, _maxcwnd);
        }
    }
    void doNextEvent() override {
        if (_established) {
            TcpSrc::doNextEvent();
            return;
        }
        _established = true;
        send_packets();
    }
    /// Its growth is a whole number of bytes for each acknowledgment, so none from as many packets on as a
    /// packet has bytes. What is left over is carried on here.
    void inflate_window() override {
        const uint32_t before = _cwnd;
        const bool avoids = before >= _ssthresh;
        const bool filled = _last_acked + before >= _highest_sent + _mss;
        TcpSrc::inflate_window();
        if (m_whole || !avoids || !filled) {
            return;
        }
        m_left += static_cast<double>(_mss) * _mss / before - (_cwnd - before);
        const double grown = std::floor(m_left);
        _cwnd += static_cast<uint32_t>(grown);
        m_left -= grown;
    }

private:
    uint32_t Bytes(double packets) const {
        const double most = std::numeric_limits<uint32_t>::max();
        return static_cast<uint32_t>(std::min(most, std::floor(packets * _mss)));
    }
    const bool m_whole;
    double m_left = 0;
};

/// A flow: both its ends, and the way there and back.
class Flow {
public:
    Flow(const Record &flow, bool whole, const Record &link, const Record &back, Way &queue, Way &backQueue)
        : m_sender(flow, whole) {
        const double before = flow.Amount("delay_before");
        const double behind = flow.Text("delay_behind") == "none" ? 0 : flow.Amount("delay_behind");
        Lead(m_there, before, queue, link.Amount("delay") + behind, m_sink);
        Lead(m_back, behind, backQueue, back.Amount("delay") + before, m_sender);
        m_sender.connect(m_there, m_back, m_sink, Picoseconds(flow.Amount("start")));
    }
    TcpSrc &Source() { return m_sender; }
    /// New data packets that arrived, those behind a gap as well.
    uint64_t Delivered() const { return m_sink._cumulative_ack / m_sender._mss + m_sink._received.size(); }

private:
    void Lead(Route &route, double before, Way &queue, double behind, PacketSink &end) {
        Delay(route, before);
        route.push_back(&queue);
        Delay(route, behind);
        route.push_back(&end);
    }
    void Delay(Route &route, double seconds) {
        if (seconds > 0) {
            m_pipes.push_back(std::make_unique<Pipe>(Picoseconds(seconds)));
            route.push_back(m_pipes.back().get());
        }
    }
    Sender m_sender;
    TcpSink m_sink;
    std::vector<std::unique_ptr<Pipe>> m_pipes;
    Route m_there, m_back;
};

/// What the scenario asks for and htsim does not have; longfat refuses it before it calls this program.
void Check(const std::map<std::string, Record> &links, const std::vector<Record> &flows) {
    for (const auto &[direction, link] : links) {
        Only(link, "queue", "drop-tail");
        if (link.Text("unit") != "packets" && link.Text("unit") != "bytes") {
            Fail("a queue counts packets or bytes, not " + link.Text("unit"));
        }
    }
    for (const Record &flow : flows) {
        Only(flow, "control", "reno");
        Only(flow, "recovery", "newreno");
        Only(flow, "ack_every", "1");
        if (flow.Amount("rto_min") != 0.25) {
            Fail("htsim has no rto_min " + flow.Text("rto_min") + ", only 0.25");
        }
        if (flow.Amount("initial_window") < 1) {
            Fail("htsim needs an initial_window of at least 1");
        }
        if (links.find(flow.Text("direction")) == links.end()) {
            Fail("there is no direction " + flow.Text("direction"));
        }
        if (flow.Text("packet") != flows.front().Text("packet")) {
            Fail("all flows must have the same packet here");
        }
        if (Positive(flow, "packet") > std::numeric_limits<uint16_t>::max()) {
            Fail("htsim has no packets of " + flow.Text("packet") + " bytes");
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        Fail("dumbbell_htsim SCENARIO RESULT");
    }
    const Scene scene = Scene::Read(argv[1]);
    const Record &top = scene.top;
    const std::map<std::string, Record> &links = scene.links;
    const std::vector<Record> &flows = scene.flows;
    Check(links, flows);
    const double duration = Positive(top, "duration"), warmup = top.Amount("warmup");
    const double cap = top.Amount("cap");

    // It tells of each time-out.
    std::cout.rdbuf(nullptr);
    Packet::set_packet_size(static_cast<int>(flows.front().Amount("packet")));
    std::map<std::string, std::unique_ptr<Way>> ways;
    for (const auto &[direction, link] : links) {
        ways[direction] = std::make_unique<Way>(link, top.Amount("spare_place"));
    }
    TcpRtxTimerScanner timers(Picoseconds(Positive(top, "tick")), EventList::getTheEventList());
    std::vector<std::unique_ptr<Flow>> made;
    for (const Record &flow : flows) {
        const std::string &there = flow.Text("direction");
        const std::string back = there == "forward" ? "reverse" : "forward";
        made.push_back(std::make_unique<Flow>(flow, top.Flag("whole"), links.at(there), links.at(back),
                                              *ways[there], *ways[back]));
        timers.registerTcp(made.back()->Source());
    }

    // --- the measurement -----------------------------------------------------------------------------------

    std::ostringstream readings;
    readings.precision(15);
    const auto now = [] { return timeAsSec(EventList::now()); };
    const auto read = [&] {
        readings << "at " << now() << "\n";
        for (size_t i = 0; i < made.size(); ++i) {
            readings << "flow " << i << " delivered " << made[i]->Delivered() << "\n";
        }
        for (auto &[direction, way] : ways) {
            readings << "link " << direction;
            way->Write(readings);
        }
    };
    Stopwatch stopwatch;
    bool stopped = false;
    // Stops a run that takes too long, at the next of ten thousand checks of the clock.
    std::unique_ptr<Action> watch;
    watch = std::make_unique<Action>([&] {
        stopped = stopwatch.Elapsed() > cap;
        watch->At(now() + duration / 10000);
    });
    watch->At(duration / 10000);
    // Eighths of the warm-up are used if a run is stopped within it.
    Action reading(read);
    for (int eighth = warmup > 0 ? 1 : 8; eighth <= 8; ++eighth) {
        reading.At(warmup * eighth / 8);
    }
    Action end([&] { stopped = true; });
    end.At(duration);
    stopwatch.Begin();
    while (!stopped && EventList::doNextEvent()) {
    }
    const double engine = stopwatch.Elapsed();
    const double reached = now();
    read();
    WriteResult(argv[2], engine, reached, readings.str());
    return 0;
}
