// A dumbbell of long flows in ns-3: the scenario of a longfat file, and what longfat would measure.
//
//     dumbbell SCENARIO RESULT
//
// SCENARIO has one thing to a line, as README.md beside this file says; RESULT gets the same kind of lines. Each flow
// has a host whose access link holds what the link leaves of its round trip, or a part of that; the other part is in
// the access link of a host beyond the link, where there is one. Otherwise the receiver is at the router.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"
#include "scene.h"

using namespace ns3;

namespace {

/// The integral over time of a level that several queues make up.
class Backlog {
public:
    void Change(uint32_t before, uint32_t after) {
        Advance();
        m_level += static_cast<double>(after) - static_cast<double>(before);
    }
    double Integral() {
        Advance();
        return m_integral;
    }

private:
    void Advance() {
        const double now = Simulator::Now().GetSeconds();
        m_integral += m_level * (now - m_since);
        m_since = now;
    }
    double m_level = 0, m_integral = 0, m_since = 0;
};

constexpr uint32_t kHeaders = 20 + 20 + 2;  // IP, TCP without options, point-to-point
constexpr uint32_t kTimeStamps = 12;        // with their padding
constexpr const char *kAccessRate = "10000Gbps";
constexpr const char *kAccessRoom = "1000000000p";

std::string Size(double amount, const std::string &unit) {
    return std::to_string(static_cast<uint64_t>(amount)) + (unit == "bytes" ? "B" : "p");
}

/// One direction of the link: its device, its queue discipline if it has one, and what is measured.
struct Way {
    Ptr<PointToPointNetDevice> device;
    Ptr<QueueDisc> discipline;
    Backlog backlog;
    uint64_t refused = 0;  // where there is no discipline, what found the queue of the device full

    void Refuse(Ptr<const Packet>) { ++refused; }
    void Measure(const std::string &unit, bool devicePacket) {
        const std::string name = unit == "bytes" ? "BytesInQueue" : "PacketsInQueue";
        const auto change = MakeCallback(&Backlog::Change, &backlog);
        if (devicePacket || !discipline) {
            device->GetQueue()->TraceConnectWithoutContext(name, change);
        }
        if (discipline) {
            discipline->TraceConnectWithoutContext(name, change);
        } else {
            // The layer above knows when the queue of the device is full, and drops without asking it.
            device->GetNode()->GetObject<TrafficControlLayer>()->TraceConnectWithoutContext(
                "TcDrop", MakeCallback(&Way::Refuse, this));
        }
    }
    void Write(std::ostream &out) {
        uint64_t arrived, dropped, marked = 0;
        if (discipline) {
            const auto &stats = discipline->GetStats();
            arrived = stats.nTotalReceivedPackets;
            dropped = stats.nTotalDroppedPackets;
            marked = stats.nTotalMarkedPackets;
        } else {
            const auto queue = device->GetQueue();
            dropped = queue->GetTotalDroppedPackets() + refused;
            arrived = queue->GetTotalReceivedPackets() + dropped;
        }
        out << " arrived " << arrived << " dropped " << dropped << " marked " << marked
            << " backlog_s " << backlog.Integral() << "\n";
    }
};

/// Where a controller of ns-3 has its own way, and can be made to do as longfat does.
struct Own {
    bool counted = true;    // grows by whole segments, after as many acknowledgments as it takes
    bool credit = true;     // grows at the end of a recovery by all that the acknowledgment covers
    bool table = true;      // HSTCP has the table of RFC 3649, and falls back to whole segments
    bool friendly = false;  // CUBIC has a Reno-friendly region
    bool marked = false;    // grows in the round trip that follows a cut for a mark too
    bool wraps = true;      // YeAH may take more from the data in flight than there is
    bool allowed = false;   // LEDBAT may grow by a segment beyond what is in flight
    bool estimate = true;   // Westwood+ counts and filters what arrives in a way of its own
    bool elapsed = true;    // BBR counts from the delivery before the one that the sample begins with
    bool repairs = true;    // BBR samples rates while a time-out is repaired
    bool All() const {
        return counted && credit && table && !friendly && !marked && wraps && !allowed && estimate && elapsed &&
               repairs;
    }
};
Own own;

/// HSTCP by the formulas of RFC 3649, section 5: what it gives up, and its segments per round trip.
double Cut(double window) {
    const double share = std::log(window / 38) / std::log(83000.0 / 38);
    return window <= 38 ? 0.5 : 0.5 + share * (0.1 - 0.5);
}
double Gain(double window) {
    const double cut = Cut(window);
    const double lossRate = 0.078 / std::pow(window, 1.2);
    return window <= 38 ? 1 : window * window * lossRate * 2 * cut / (2 - cut);
}

/// CUBIC by the formulas of RFC 9438, in segments and seconds.
class CubicFormulas {
public:
    static constexpr double kKept = 0.7;
    void Cut(double window) {
        m_maximum = window < m_maximum ? window * (1 + kKept) / 2 : window;
        m_prior = window;
        m_running = false;
    }
    void Forget() {
        m_maximum = 0;
        m_running = false;
    }
    /// What the window becomes in the Reno-friendly region; nothing outside it.
    double Friendly(double window, uint32_t acked) {
        Begin(window);
        const double gain = m_estimate < m_prior ? 3 * (1 - kKept) / (1 + kKept) : 1;
        m_estimate += gain * acked / window;
        return At(0) < m_estimate ? m_estimate : 0;
    }
    /// Segments by which the window is to grow in the round trip that begins.
    double PerRoundTrip(double window, double rtt) {
        Begin(window);
        return std::clamp(At(rtt), window, 1.5 * window) - window;
    }

private:
    void Begin(double window) {
        if (m_running) {
            return;
        }
        m_running = true;
        m_since = Simulator::Now().GetSeconds();
        m_plateau = m_maximum = std::max(m_maximum, window);
        m_climb = std::cbrt((m_plateau - window) / kSteepness);
        m_estimate = window;
    }
    double At(double ahead) const {
        const double time = Simulator::Now().GetSeconds() - m_since + ahead - m_climb;
        return m_plateau + kSteepness * time * time * time;
    }
    static constexpr double kSteepness = 0.4;
    bool m_running = false;
    double m_maximum = 0, m_prior = 0, m_since = 0, m_plateau = 0, m_climb = 0, m_estimate = 0;
};

/// The search of the paper on BIC: half of the way to the window of the last loss, then ever more beyond it.
class BicFormulas {
public:
    void Cut(double window, double kept) {
        m_maximum = window < m_maximum ? window * (1 + kept) / 2 : window;
        m_until = 0;
        m_probe = 1;
    }
    void Forget() { *this = {}; }
    double PerRoundTrip(double window, double most, double low) {
        if (window < low) {
            return 1;
        }
        if (window >= m_until) {
            const double half = (m_maximum - window) / 2;
            m_step = half > 0 ? std::clamp(half, 0.01, most) : m_probe;
            m_probe = half > 0 ? m_probe : std::min(2 * m_probe, most);
            m_until = window + m_step;
        }
        return std::min(m_step, window);
    }

private:
    double m_maximum = 0, m_until = 0, m_step = 0, m_probe = 1;
};

/// The estimate of the paper on Westwood+: what was acknowledged, over the time that it took, twice through a filter.
class WestwoodFormulas {
public:
    void Hear(uint32_t acked, double rtt) {
        const double now = Simulator::Now().GetSeconds();
        if (m_since < 0) {
            m_since = now;
        }
        const double length = now - m_since;
        if (length >= std::max(rtt, 0.05)) {
            const double rate = m_acked / length;
            m_first = m_began ? m_first + (rate - m_first) / 8 : rate;
            m_second = m_began ? m_second + (m_first - m_second) / 8 : rate;
            m_began = true;
            m_since = now;
            m_acked = 0;
        }
        m_acked += acked;
    }
    /// Segments that the path holds; half of the window before the first sample.
    double Share(double window, double smallest) const {
        return m_began ? m_second * smallest : window / 2;
    }

private:
    bool m_began = false;
    double m_since = -1, m_acked = 0, m_first = 0, m_second = 0;
};

/// A controller of ns-3, with what `own` says.
template <class Base>
class Told : public Base {
public:
    static TypeId GetTypeId() {
        static TypeId id = TypeId("longfat::" + Base::GetTypeId().GetName())
                               .template SetParent<Base>()
                               .template AddConstructor<Told<Base>>();
        return id;
    }
    void CongestionStateSet(Ptr<TcpSocketState> state,
                            const TcpSocketState::TcpCongState_t next) override {
        m_ends = state->m_congState == TcpSocketState::CA_RECOVERY;
        if (next == TcpSocketState::CA_LOSS) {
            m_cubic.Forget();
            m_bic.Forget();
        }
        Base::CongestionStateSet(state, next);
    }
    void PktsAcked(Ptr<TcpSocketState> state, uint32_t acked, const Time &rtt) override {
        Base::PktsAcked(state, acked, rtt);
        m_westwood.Hear(acked, rtt.GetSeconds());
        const bool answering = state->m_congState == TcpSocketState::CA_CWR;
        if (own.marked && answering && state->m_ecnState != TcpSocketState::ECN_ECE_RCVD) {
            const double segment = state->m_segmentSize;
            m_bytes += segment * acked / ((state->m_cWnd + m_bytes) / segment);
            // At the end of the round trip the window becomes the threshold.
            state->m_ssThresh += Grow(state, 1);
        }
    }
    void IncreaseWindow(Ptr<TcpSocketState> state, uint32_t acked) override {
        // What selective acknowledgments reported is not new: the rest is the last retransmission.
        if (m_ends && !own.credit) {
            acked = std::min(acked, 1u);
        }
        m_ends = false;
        if (kIs<TcpLedbat> && own.allowed) {
            // Its bound is the data in flight, which begins at the last acknowledgment and ends here.
            const auto end = state->m_highTxMark.Get();
            state->m_highTxMark = end + state->m_segmentSize;
            Base::IncreaseWindow(state, acked);
            state->m_highTxMark = end;
            return;
        }
        if (state->m_cWnd < state->m_ssThresh) {
            Base::IncreaseWindow(state, acked);
            return;
        }
        const double segment = state->m_segmentSize;
        const double window = (state->m_cWnd + m_bytes) / segment;
        if (kCubic && own.friendly) {
            if (const double least = m_cubic.Friendly(window, acked); least > 0) {
                m_bytes += segment * std::max(0.0, least - window);
                Grow(state, own.counted ? state->m_segmentSize : 1);
                return;
            }
        }
        if (own.counted || !kFormula) {
            Base::IncreaseWindow(state, acked);
            return;
        }
        m_bytes += segment * acked * PerRoundTrip(window, state) / window;
        Grow(state, 1);
    }
    uint32_t GetSsThresh(Ptr<const TcpSocketState> state, uint32_t inFlight) override {
        const double segment = state->m_segmentSize, window = state->m_cWnd;
        if (kCubic) {
            m_cubic.Cut(window / segment);
        } else if (kBic) {
            m_bic.Cut(window / segment, Number<DoubleValue>("Beta"));
        }
        if (kIs<TcpWestwood> && !own.estimate) {
            const double share = m_westwood.Share(window / segment, state->m_minRtt.GetSeconds());
            return static_cast<uint32_t>(std::max(2.0, share) * segment);
        }
        const bool formula = kCubic ? !own.counted : kHstcp && !own.table;
        if (!formula) {
            const uint32_t threshold = Base::GetSsThresh(state, inFlight);
            const uint32_t most = std::max(inFlight, 2 * state->m_segmentSize);
            return own.wraps ? threshold : std::min(threshold, most);
        }
        const double kept = kCubic ? CubicFormulas::kKept : 1 - Cut(window / segment);
        return static_cast<uint32_t>(std::max(2 * segment, window * kept));
    }
    void CongControl(Ptr<TcpSocketState> state, const TcpRateOps::TcpRateConnection &rate,
                     const TcpRateOps::TcpRateSample &sample) override {
        auto told = sample;
        // By now the sample knows the delivery that it begins with; its elapsed time was taken before that.
        const Time length = std::max(sample.m_sendElapsed, Simulator::Now() - sample.m_priorTime);
        if (!own.elapsed && sample.m_delivered > 0 && sample.m_deliveryRate.GetBitRate() > 0 &&
            length >= state->m_minRtt) {
            const double bits = 8.0 * sample.m_delivered / length.GetSeconds();
            told.m_deliveryRate = DataRate(static_cast<uint64_t>(bits));
        }
        if (!own.repairs && state->m_congState == TcpSocketState::CA_LOSS) {
            told.m_deliveryRate = DataRate(0);
        }
        Base::CongControl(state, rate, told);
    }
    Ptr<TcpCongestionOps> Fork() override { return CopyObject<Told<Base>>(this); }

private:
    /// Adds to the window what has been grown, in steps of a size.
    uint32_t Grow(Ptr<TcpSocketState> state, uint32_t step) {
        const uint32_t whole = static_cast<uint32_t>(m_bytes / step) * step;
        m_bytes -= whole;
        state->m_cWnd += whole;
        return whole;
    }
    template <class... Others>
    static constexpr bool kIs = (std::is_same_v<Base, Others> || ...);
    static constexpr bool kHstcp = kIs<TcpHighSpeed>;
    static constexpr bool kCubic = kIs<TcpCubic>;
    static constexpr bool kBic = kIs<TcpBic>;
    static constexpr bool kFormula =
        kIs<TcpLinuxReno, TcpHighSpeed, TcpScalable, TcpCubic, TcpBic, TcpHybla, TcpDctcp, TcpVeno>;
    template <class Value>
    double Number(const std::string &attribute) const {
        Value value;
        this->GetAttribute(attribute, value);
        return static_cast<double>(value.Get());
    }
    double PerRoundTrip(double window, Ptr<TcpSocketState> state) {
        if (kCubic) {
            return m_cubic.PerRoundTrip(window, state->m_lastRtt.Get().GetSeconds());
        }
        if (kHstcp) {
            const auto whole = static_cast<uint32_t>(window);
            return own.table ? TcpHighSpeed::TableLookupA(whole) : Gain(window);
        }
        if (std::is_same_v<Base, TcpScalable>) {
            return std::max(1.0, window / Number<UintegerValue>("AIFactor"));
        }
        if (kBic) {
            return m_bic.PerRoundTrip(window, Number<UintegerValue>("MaxIncr"),
                                      Number<UintegerValue>("LowWnd"));
        }
        if (kIs<TcpHybla>) {
            TimeValue reference;
            this->GetAttribute("RRTT", reference);
            const double ratio = state->m_minRtt.GetSeconds() / reference.Get().GetSeconds();
            return std::max(1.0, ratio * ratio);
        }
        if (kIs<TcpVeno>) {
            const double unqueued = state->m_minRtt.GetSeconds() / state->m_lastRtt.Get().GetSeconds();
            return window * (1 - unqueued) < Number<UintegerValue>("Beta") ? 1 : 0.5;
        }
        return 1;
    }
    bool m_ends = false;
    CubicFormulas m_cubic;
    BicFormulas m_bic;
    WestwoodFormulas m_westwood;
    double m_bytes = 0;  // grown, and less than what a window counts
};

template <class Base>
TypeId As() {
    return own.All() ? Base::GetTypeId() : Told<Base>::GetTypeId();
}

TypeId Controller(const std::string &name) {
    const std::map<std::string, TypeId (*)()> known = {
        {"reno", As<TcpLinuxReno>},       {"hstcp", As<TcpHighSpeed>}, {"stcp", As<TcpScalable>},
        {"cubic", As<TcpCubic>},          {"dctcp", As<TcpDctcp>},     {"bic", As<TcpBic>},
        {"h-tcp", As<TcpHtcp>},           {"vegas", As<TcpVegas>},     {"illinois", As<TcpIllinois>},
        {"westwood", As<TcpWestwood>},    {"yeah", As<TcpYeah>},       {"hybla", As<TcpHybla>},
        {"ledbat", As<TcpLedbat>},        {"bbr1", As<TcpBbr>},          {"veno", As<TcpVeno>},
    };
    const auto found = known.find(name);
    if (found == known.end()) {
        Fail("ns-3 has no controller " + name);
    }
    return found->second();
}

/// Gives a controller of ns-3 the parameters that a flow has in longfat.
void SetParameters(const std::string &control, const Record &flow) {
    const auto set = [](const std::string &attribute, const AttributeValue &value) {
        Config::SetDefault("ns3::Tcp" + attribute, value);
    };
    const auto number = [&flow](const char *key) { return DoubleValue(flow.Number(key)); };
    const auto whole = [](double value) {
        return UintegerValue(static_cast<uint64_t>(value + 0.5));
    };
    if (control == "stcp") {
        set("Scalable::AIFactor", whole(1 / flow.Number("a")));
        set("Scalable::MDFactor", number("b"));
    } else if (control == "cubic") {
        set("Cubic::C", number("c"));
        set("Cubic::Beta", number("beta"));
        set("Cubic::FastConvergence", BooleanValue(flow.Flag("fast_convergence")));
    } else if (control == "dctcp") {
        set("Dctcp::DctcpShiftG", number("g"));
    } else if (control == "bic") {
        set("Bic::MaxIncr", whole(flow.Number("s_max")));
        set("Bic::Beta", DoubleValue(1 - flow.Number("beta")));
        set("Bic::LowWnd", whole(flow.Number("low_window")));
        set("Bic::FastConvergence", BooleanValue(flow.Flag("fast_convergence")));
        // The search goes to the middle, as in the paper.
        set("Bic::BinarySearchCoefficient", UintegerValue(2));
    } else if (control == "h-tcp") {
        set("Htcp::DeltaL", TimeValue(Seconds(flow.Number("delta_l"))));
        set("Htcp::ThroughputRatio", number("delta_b"));
    } else if (control == "illinois") {
        set("Illinois::AlphaMin", number("alpha_min"));
        set("Illinois::AlphaMax", number("alpha_max"));
        set("Illinois::BetaMin", number("beta_min"));
        set("Illinois::BetaMax", number("beta_max"));
        set("Illinois::WinThresh", whole(flow.Number("w_thresh")));
        set("Illinois::Theta", whole(flow.Number("theta")));
    } else if (control == "westwood") {
        set("Westwood::ProtocolType", EnumValue(TcpWestwood::WESTWOODPLUS));
    } else if (control == "yeah") {
        set("Yeah::Alpha", whole(flow.Number("q_max")));
        set("Yeah::Phy", whole(flow.Number("phi")));
        set("Yeah::Rho", whole(flow.Number("rho")));
        set("Yeah::Zeta", whole(flow.Number("zeta")));
        set("Yeah::StcpAiFactor", whole(1 / flow.Number("a")));
    } else if (control == "hybla") {
        set("Hybla::RRTT", TimeValue(Seconds(flow.Number("rtt0"))));
    } else if (control == "vegas") {
        set("Vegas::Alpha", whole(flow.Number("alpha")));
        set("Vegas::Beta", whole(flow.Number("beta")));
        set("Vegas::Gamma", whole(flow.Number("gamma")));
    } else if (control == "veno") {
        set("Veno::Beta", whole(flow.Number("beta")));
    } else if (control == "ledbat") {
        set("Ledbat::TargetDelay", TimeValue(Seconds(flow.Number("target"))));
        set("Ledbat::Gain", number("gain"));
        set("Ledbat::SSParam", StringValue("no"));
    } else if (control == "bbr1") {
        // The draft has no allowance for acknowledgments that come in bunches.
        set("Bbr::AckEpochAckedResetThresh", UintegerValue(0));
        set("Bbr::HighGain", number("startup_gain"));
        set("Bbr::BwWindowLength", whole(flow.Number("bw_rounds")));
        set("Bbr::RttWindowLength", TimeValue(Seconds(flow.Number("rtt_window"))));
    }
}

void SetQueue(Way &way, const Record &link, double sparePlace) {
    const std::string &unit = link.Text("unit");
    const double buffer = link.Number("buffer");
    if (link.Text("queue") == "drop-tail") {
        way.device->GetQueue()->SetAttribute("MaxSize", StringValue(Size(buffer, unit)));
        return;
    }
    // The device takes one packet from the discipline before it can send it.
    const std::string &kind = link.Text("queue");
    const double packet = link.Number("packet");
    const double room = buffer + sparePlace * (unit == "bytes" ? packet : 1.0);
    const auto mean = UintegerValue(static_cast<uint32_t>(packet));
    const auto size = StringValue(Size(room, unit));
    const auto span = [&link](const char *key) { return TimeValue(Seconds(link.Number(key))); };
    way.device->GetQueue()->SetAttribute("MaxSize", StringValue("1p"));
    TrafficControlHelper control;
    if (kind == "red") {
        control.SetRootQueueDisc(
            "ns3::RedQueueDisc", "MaxSize", size, "MinTh", DoubleValue(link.Number("min")), "MaxTh",
            DoubleValue(link.Number("max")), "QW", DoubleValue(link.Number("weight")), "LInterm",
            DoubleValue(1 / link.Number("max_p")), "MeanPktSize", mean, "Gentle",
            BooleanValue(link.Flag("gentle")), "Wait", BooleanValue(link.Flag("wait")), "UseEcn",
            BooleanValue(link.Flag("ecn")), "LinkBandwidth",
            DataRateValue(DataRate(static_cast<uint64_t>(link.Number("rate")))), "LinkDelay",
            TimeValue(Seconds(link.Number("delay"))));
    } else if (kind == "step" && unit == "packets") {
        // RED without an average, and its thresholds in one place, as in the paper on DCTCP. An arrival is marked that
        // finds this many in the discipline, and then there is one more in the device.
        const auto threshold = DoubleValue(std::floor(link.Number("threshold")));
        control.SetRootQueueDisc("ns3::RedQueueDisc", "MaxSize", size, "MinTh", threshold, "MaxTh",
                                 threshold, "QW", DoubleValue(1), "Gentle", BooleanValue(false),
                                 "UseEcn", BooleanValue(true), "UseHardDrop", BooleanValue(false));
    } else if (kind == "codel") {
        control.SetRootQueueDisc("ns3::CoDelQueueDisc", "MaxSize", size, "Target", span("target"),
                                 "Interval", span("interval"), "MinBytes", mean, "UseEcn",
                                 BooleanValue(link.Flag("ecn")));
    } else if (kind == "fq-codel") {
        Config::SetDefault("ns3::CoDelQueueDisc::MinBytes", mean);
        control.SetRootQueueDisc(
            "ns3::FqCoDelQueueDisc", "MaxSize", size, "Target", StringValue(link.Text("target") + "s"),
            "Interval", StringValue(link.Text("interval") + "s"), "Flows",
            UintegerValue(static_cast<uint32_t>(link.Number("queues"))), "UseEcn",
            BooleanValue(link.Flag("ecn")));
    } else if (kind == "pie") {
        control.SetRootQueueDisc(
            "ns3::PieQueueDisc", "MaxSize", size, "QueueDelayReference", span("target"), "Tupdate",
            span("interval"), "A", DoubleValue(link.Number("alpha")), "B",
            DoubleValue(link.Number("beta")), "MaxBurstAllowance", span("burst"), "UseEcn",
            BooleanValue(link.Flag("ecn")), "MarkEcnThreshold",
            DoubleValue(link.Number("mark_below")), "UseDerandomization",
            BooleanValue(link.Flag("derandomize")), "MeanPktSize", mean);
    } else {
        Fail("ns-3 has no queue " + kind + " in " + unit);
    }
    way.discipline = control.Install(NetDeviceContainer(way.device)).Get(0);
    if (const auto fair = DynamicCast<FqCoDelQueueDisc>(way.discipline)) {
        fair->SetQuantum(static_cast<uint32_t>(link.Number("quantum")));
    }
}

}  // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        Fail("dumbbell SCENARIO RESULT");
    }
    const Scene scene = Scene::Read(argv[1]);
    const Record &top = scene.top;
    const std::map<std::string, Record> &links = scene.links;
    const std::vector<Record> &flows = scene.flows;
    const Record &like = flows.front();
    for (const Record &flow : flows) {
        for (const char *key : {"packet", "initial_window", "rto_min", "ecn", "recovery",
                                "max_window", "ack_every", "ack_delay"}) {
            if (flow.Text(key) != like.Text(key)) {
                Fail(std::string("all flows must have the same ") + key + " here");
            }
        }
        for (const char *control : {"dctcp", "ledbat"}) {
            if ((flow.Text("control") == control) != (like.Text("control") == control)) {
                Fail(std::string("where one flow has ") + control + " all must have it here");
            }
        }
    }

    // Packets of 1000 bytes at 10 Tbit/s take less than a nanosecond.
    Time::SetResolution(Time::PS);
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(static_cast<uint64_t>(top.Number("seed")));

    // LEDBAT takes one-way delays from time stamps.
    const bool stamped = like.Text("control") == "ledbat";
    const uint32_t headers = kHeaders + (stamped ? kTimeStamps : 0);
    const uint32_t segment = static_cast<uint32_t>(like.Number("packet")) - headers;
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(segment));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd",
                       UintegerValue(static_cast<uint32_t>(like.Number("initial_window"))));
    Config::SetDefault("ns3::TcpSocket::DelAckCount",
                       UintegerValue(static_cast<uint32_t>(like.Number("ack_every"))));
    Config::SetDefault("ns3::TcpSocket::DelAckTimeout",
                       TimeValue(Seconds(like.Number("ack_delay"))));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(stamped));
    const std::string &losses = like.Text("recovery");
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(losses != "newreno"));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(like.Number("rto_min"))));
    Config::SetDefault("ns3::TcpSocketBase::ClockGranularity",
                       TimeValue(Seconds(top.Number("tick"))));
    Config::SetDefault("ns3::TcpSocketBase::UseEcn", StringValue(like.Flag("ecn") ? "On" : "Off"));
    if (!top.Flag("averaged")) {
        Config::SetDefault("ns3::RttMeanDeviation::Alpha", DoubleValue(1));
    }
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(top.Flag("hystart")));
    const std::string &told = top.Text("recovery");
    if (told == "classic" || (told == "auto" && losses != "rack")) {
        Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                           TypeIdValue(TcpClassicRecovery::GetTypeId()));
    }

    own = {top.Flag("counted"), top.Flag("credit"), top.Flag("table"), top.Flag("friendly"),
           top.Flag("marked"),  top.Flag("wraps"),   top.Flag("allowed"), top.Flag("estimate"),
           top.Flag("elapsed"), top.Flag("repairs")};
    if (own.counted && !own.table) {
        Fail("HSTCP that grows by whole segments has a table");
    }

    // --- the link -------------------------------------------------------------------------------------------------

    NodeContainer routers(2);
    InternetStackHelper internet;
    internet.Install(routers);
    std::map<std::string, Way> ways;
    std::map<std::string, uint32_t> number = {{"forward", 0}, {"reverse", 1}};
    PointToPointHelper pointToPoint;
    pointToPoint.SetChannelAttribute("Delay",
                                     TimeValue(Seconds(links.at("forward").Number("delay"))));
    const NetDeviceContainer bottleneck = pointToPoint.Install(routers);
    for (const auto &[direction, link] : links) {
        Way &way = ways[direction];
        way.device = DynamicCast<PointToPointNetDevice>(bottleneck.Get(number[direction]));
        way.device->SetDataRate(DataRate(static_cast<uint64_t>(link.Number("rate"))));
        SetQueue(way, link, top.Number("spare_place"));
        way.Measure(link.Text("unit"), top.Flag("device_packet"));
    }
    // Assigning an address gives a device without a queue discipline one: it is removed again.
    TrafficControlHelper plain;
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    const Ipv4InterfaceContainer ends = addresses.Assign(bottleneck);
    for (auto &[direction, way] : ways) {
        if (!way.discipline) {
            plain.Uninstall(way.device);
        }
    }
    Ipv4StaticRoutingHelper routing;
    for (uint32_t i : {0, 1}) {
        routing.GetStaticRouting(routers.Get(i)->GetObject<Ipv4>())
            ->SetDefaultRoute(ends.GetAddress(1 - i), 1);
    }

    // --- the flows ------------------------------------------------------------------------------------------------

    // A host at the end of an access link, and its address.
    const auto connectedHost = [&](const Ptr<Node> &router, double delay) {
        const Ptr<Node> host = CreateObject<Node>();
        internet.Install(host);
        PointToPointHelper access;
        access.SetDeviceAttribute("DataRate", StringValue(kAccessRate));
        access.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue(kAccessRoom));
        access.SetChannelAttribute("Delay", TimeValue(Seconds(delay)));
        const NetDeviceContainer devices = access.Install(host, router);
        addresses.NewNetwork();
        const Ipv4InterfaceContainer own = addresses.Assign(devices);
        for (auto device = devices.Begin(); device != devices.End(); ++device) {
            plain.Uninstall(*device);
        }
        routing.GetStaticRouting(host->GetObject<Ipv4>())->SetDefaultRoute(own.GetAddress(1), 1);
        return std::make_pair(host, own.GetAddress(0));
    };
    std::vector<Ptr<PacketSink>> sinks;
    uint16_t port = 5000;
    for (const Record &flow : flows) {
        const uint32_t near = number.at(flow.Text("direction"));
        const Record &link = links.at(flow.Text("direction"));
        const Ptr<Node> host = connectedHost(routers.Get(near), flow.Number("delay_before")).first;
        Ptr<Node> end = routers.Get(1 - near);
        Ipv4Address target = ends.GetAddress(1 - near);
        if (flow.Text("delay_behind") != "none") {
            std::tie(end, target) = connectedHost(end, flow.Number("delay_behind"));
        }

        const std::string &control = flow.Text("control");
        host->GetObject<TcpL4Protocol>()->SetAttribute("SocketType",
                                                       TypeIdValue(Controller(control)));
        SetParameters(control, flow);
        if (control == "dctcp") {
            // Its receiver echoes each mark.
            end->GetObject<TcpL4Protocol>()->SetAttribute("SocketType",
                                                          TypeIdValue(Controller(control)));
        }
        // Twice what the path and the queue can hold: no buffer of a host limits the flow.
        const double rtt = flow.Number("rtt");
        const double queue =
            link.Number("buffer") * (link.Text("unit") == "bytes" ? 1 : flow.Number("packet"));
        double room = 2 * (link.Number("rate") / 8 * rtt + queue) + 1e5;
        Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 30));
        if (flow.Text("max_window") != "none") {
            room = flow.Number("max_window") * segment;
        }
        room = std::min(room, static_cast<double>(1 << 30));
        Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(static_cast<uint32_t>(room)));

        BulkSendHelper source("ns3::TcpSocketFactory", InetSocketAddress(target, port));
        source.SetAttribute("SendSize", UintegerValue(segment));
        ApplicationContainer sending = source.Install(host);
        // The handshake takes a round trip.
        sending.Start(Seconds(std::max(0.0, flow.Number("start") - rtt)));
        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), port));
        ApplicationContainer receiving = sink.Install(end);
        sinks.push_back(DynamicCast<PacketSink>(receiving.Get(0)));
        ++port;
    }

    // --- the measurement ------------------------------------------------------------------------------------------

    std::ostringstream readings;
    readings.precision(15);
    const auto read = [&] {
        readings << "at " << Simulator::Now().GetSeconds() << "\n";
        for (size_t i = 0; i < sinks.size(); ++i) {
            readings << "flow " << i << " delivered " << sinks[i]->GetTotalRx() / segment << "\n";
        }
        for (auto &[direction, way] : ways) {
            readings << "link " << direction;
            way.Write(readings);
        }
    };
    Stopwatch stopwatch;
    const double duration = top.Number("duration");
    const double cap = top.Number("cap");
    // Stops a run that takes too long, at the next of ten thousand checks of the clock.
    const std::function<void()> watch = [&] {
        if (stopwatch.Elapsed() > cap) {
            Simulator::Stop();
        }
        Simulator::Schedule(Seconds(duration / 10000), watch);
    };
    Simulator::Schedule(Seconds(0), watch);
    // Eighths of the warm-up are used if a run is stopped within it.
    const double warmup = top.Number("warmup");
    for (int eighth = warmup > 0 ? 1 : 8; eighth < 8; ++eighth) {
        Simulator::Schedule(Seconds(warmup * eighth / 8), read);
    }
    Simulator::Schedule(Seconds(warmup), read);
    Simulator::Stop(Seconds(duration));
    stopwatch.Begin();
    Simulator::Run();
    const double engine = stopwatch.Elapsed();
    const double reached = Simulator::Now().GetSeconds();
    read();
    WriteResult(argv[2], engine, reached, readings.str());
    Simulator::Destroy();
    return 0;
}
