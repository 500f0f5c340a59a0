// What the programs for ns-3 and htsim share: a scenario is read and a result written, in the lines that README.md
// beside this file describes.

#pragma once

#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

[[noreturn]] inline void Fail(const std::string &reason) {
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
        if (end == text.c_str() || *end != '\0' || !std::isfinite(value)) {
            Fail(key + " is " + text + ", which is no number");
        }
        return value;
    }
    double Amount(const std::string &key) const {
        const double value = Number(key);
        if (value < 0) {
            Fail(key + " is " + Text(key) + ", which is no number from 0 on");
        }
        return value;
    }
    bool Flag(const std::string &key) const { return Number(key) != 0; }

private:
    std::map<std::string, std::string> m_values;
};

/// A scenario: its top, the two directions of its link, and its flows.
struct Scene {
    Record top;
    std::map<std::string, Record> links;
    std::vector<Record> flows;

    static Scene Read(const char *path) {
        std::ifstream scenario(path);
        if (!scenario) {
            Fail(std::string("cannot read ") + path);
        }
        std::map<std::string, Record> links;
        std::vector<Record> flows, tops;
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
        const bool both = links.size() == 2 && links.count("forward") && links.count("reverse");
        if (tops.empty() || !both || flows.empty()) {
            Fail("the scenario lacks its top, a direction of its link, or flows");
        }
        return {tops.front(), links, flows};
    }
};

/// Wall time since it was begun, in seconds.
class Stopwatch {
public:
    void Begin() { m_began = Clock::now(); }
    double Elapsed() const { return std::chrono::duration<double>(Clock::now() - m_began).count(); }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point m_began;
};

/// The result of a run that took so long and reached this time.
inline void WriteResult(const char *path, double engine, double reached, const std::string &readings) {
    std::ofstream result(path);
    result.precision(15);
    result << "top engine_s " << engine << " reached_s " << reached << "\n" << readings;
    result.close();
    if (!result) {
        std::remove(path);
        Fail(std::string("cannot write ") + path);
    }
}
