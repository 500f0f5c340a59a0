// A dumbbell of long flows in htsim: the scenario of a longfat file, and what longfat would measure.
//
//     dumbbell_htsim SCENARIO RESULT
//
// SCENARIO has one thing to a line, as README.md beside this file says; RESULT gets the same kind of lines.
// Each flow has pipes of its own: one for what its round trip has before a queue, one for what it has behind
// it, the link included. Both directions have a queue, which data and acknowledgments share.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
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
#include "tcp.h"
#include "tcppacket.h"

namespace {

[[noreturn]] void Fail(const std::string &reason) {
    std::cerr << reason << std::endl;
    std::exit(2);
}

/// Keys and values of one line.
class Record {
public:
    explicit Record(std::istream &words) {
        for (std::string key, value; words >> key;) {
            if (!(words >> value)) {
                Fail("the scenario has " + key + " without a value");
            }
            m_values[key] = value;
        }
    }
    const std::string &Text(const std::string &key) const {
        const auto found = m_values.find(key);
        if (found == m_values.end()) {
            Fail("the scenario does not say " + key);
        }
        return found->second;
    }
    double Number(const std::string &key) const {
        const std::string &text = Text(key);
        char *end = nullptr;
        const double value = std::strtod(text.c_str(), &end);
        if (*end != '\0' || !std::isfinite(value) || value < 0) {
            Fail(key + " is " + text + ", which is no number from 0 on");
        }
        return value;
    }
    double Positive(const std::string &key) const {
        const double value = Number(key);
        if (value == 0) {
            Fail(key + " must be more than 0");
        }
        return value;
    }
    bool Flag(const std::string &key) const { return Number(key) != 0; }
    void Only(const std::string &key, const std::string &value) const {
        if (Text(key) != value) {
            Fail("htsim has no " + key + " " + Text(key) + " here, only " + value);
        }
    }

private:
    std::map<std::string, std::string> m_values;
};

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
        : Queue(static_cast<linkspeed_bps>(link.Positive("rate")), std::numeric_limits<mem_b>::max(),
                EventList::getTheEventList(), nullptr),
          m_inBytes(link.Text("unit") == "bytes"),
          m_room(static_cast<mem_b>(link.Number("buffer") +
                                    sparePlace * (m_inBytes ? link.Number("packet") : 1))) {}
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
        _cwnd = Bytes(flow.Number("initial_window"));
        _ssthresh = std::numeric_limits<uint32_t>::max();
        if (flow.Text("initial_threshold") != "none") {
            _ssthresh = Bytes(flow.Number("initial_threshold"));
        }
        if (flow.Text("max_window") != "none") {
            _maxcwnd = Bytes(flow.Number("max_window"));
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
        const double before = flow.Number("delay_before");
        const double behind = flow.Text("delay_behind") == "none" ? 0 : flow.Number("delay_behind");
        Lead(m_there, before, queue, link.Number("delay") + behind, m_sink);
        Lead(m_back, behind, backQueue, back.Number("delay") + before, m_sender);
        m_sender.connect(m_there, m_back, m_sink, Picoseconds(flow.Number("start")));
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
        link.Only("queue", "drop-tail");
        if (link.Text("unit") != "packets" && link.Text("unit") != "bytes") {
            Fail("a queue counts packets or bytes, not " + link.Text("unit"));
        }
    }
    for (const Record &flow : flows) {
        flow.Only("control", "reno");
        flow.Only("recovery", "newreno");
        flow.Only("ack_every", "1");
        if (flow.Number("rto_min") != 0.25) {
            Fail("htsim has no rto_min " + flow.Text("rto_min") + ", only 0.25");
        }
        if (flow.Number("initial_window") < 1) {
            Fail("htsim needs an initial_window of at least 1");
        }
        if (links.find(flow.Text("direction")) == links.end()) {
            Fail("there is no direction " + flow.Text("direction"));
        }
        if (flow.Text("packet") != flows.front().Text("packet")) {
            Fail("all flows must have the same packet here");
        }
        if (flow.Positive("packet") > std::numeric_limits<uint16_t>::max()) {
            Fail("htsim has no packets of " + flow.Text("packet") + " bytes");
        }
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        Fail("dumbbell_htsim SCENARIO RESULT");
    }
    std::map<std::string, Record> links;
    std::vector<Record> flows;
    std::vector<Record> tops;
    std::ifstream scenario(argv[1]);
    if (!scenario) {
        Fail(std::string("cannot read ") + argv[1]);
    }
    for (std::string line; std::getline(scenario, line);) {
        std::istringstream words(line);
        std::string kind, direction;
        words >> kind;
        if (kind == "top") {
            tops.emplace_back(words);
        } else if (kind == "link") {
            words >> direction;
            links.emplace(direction, Record(words));
        } else if (kind == "flow") {
            flows.emplace_back(words);
        }
    }
    if (tops.empty() || !links.count("forward") || !links.count("reverse") || flows.empty()) {
        Fail("the scenario lacks its top, a direction of its link, or flows");
    }
    Check(links, flows);
    const Record &top = tops.front();
    const double duration = top.Positive("duration"), warmup = top.Number("warmup");
    const double cap = top.Number("cap");

    // It tells of each time-out.
    std::cout.rdbuf(nullptr);
    Packet::set_packet_size(static_cast<int>(flows.front().Number("packet")));
    std::map<std::string, std::unique_ptr<Way>> ways;
    for (const auto &[direction, link] : links) {
        ways[direction] = std::make_unique<Way>(link, top.Number("spare_place"));
    }
    TcpRtxTimerScanner timers(Picoseconds(top.Positive("tick")), EventList::getTheEventList());
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
    using Clock = std::chrono::steady_clock;
    Clock::time_point began;
    const auto elapsed = [&began] {
        return std::chrono::duration<double>(Clock::now() - began).count();
    };
    bool stopped = false;
    // Stops a run that takes too long, at the next of ten thousand checks of the clock.
    std::unique_ptr<Action> watch;
    watch = std::make_unique<Action>([&] {
        stopped = elapsed() > cap;
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
    began = Clock::now();
    while (!stopped && EventList::doNextEvent()) {
    }
    const double engine = elapsed();
    const double reached = now();
    read();
    std::ofstream result(argv[2]);
    result.precision(15);
    result << "top engine_s " << engine << " reached_s " << reached << "\n" << readings.str();
    result.close();
    if (!result) {
        std::remove(argv[2]);
        Fail(std::string("cannot write ") + argv[2]);
    }
    return 0;
}
