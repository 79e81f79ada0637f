import Foundation

/// The system's statistics of the process, under the names that every Prometheus client uses for them.
///
/// Read at the scrape, and only then. Without `/proc`, nothing is exposed.
enum ProcessStatistics {
    static func exposition() -> String {
        guard let statistics = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
            let end = statistics.lastIndex(of: ")")
        else { return "" }
        // The command's name may contain spaces, so the fields are counted after it: the first is number 3.
        let fields = statistics[statistics.index(after: end)...].split(separator: " ").map(String.init)
        guard fields.count > 21, let user = Double(fields[11]), let system = Double(fields[12]),
            let started = Double(fields[19]), let pages = Double(fields[21])
        else { return "" }
        let tick = Double(sysconf(Int32(_SC_CLK_TCK)))
        var text = ""
        text += show(.counter("process_cpu_seconds_total", "User and system time."), (user + system) / tick)
        text += show(
            .gauge("process_resident_memory_bytes", "Memory that is in use."),
            pages * Double(sysconf(Int32(_SC_PAGESIZE))))
        if let booted {
            text += show(
                .gauge("process_start_time_seconds", "When the process started, since 1970."), booted + started / tick)
        }
        if let open = try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd") {
            text += show(.gauge("process_open_fds", "Open file descriptors."), Double(open.count))
        }
        return text
    }

    private static func show(_ metric: Metric, _ value: Double) -> String {
        PrometheusText.head(metric) + PrometheusText.sample(metric.name, [], value)
    }

    /// When the machine started, since 1970.
    private static let booted: Double? = {
        guard let text = try? String(contentsOfFile: "/proc/stat", encoding: .utf8) else { return nil }
        let line = text.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst("btime ".count)) }
    }()
}
