/// Metrics in Prometheus' text format.
struct MetricsPage: Sendable {
    /// One line: a name, its labels and its value.
    struct Sample: Sendable, Equatable {
        var name: String
        var labels: [String: String]
        var value: Double
    }

    static let ingestRequests = "storekeeper_ingest_requests_total"
    static let stageRecords = "storekeeper_stage_records_total"
    static let rebalances = "storekeeper_consumer_rebalances_total"

    let samples: [Sample]

    /// Skips unreadable lines: the live view must not fail because of another process.
    init(_ text: String) {
        samples = text.split(separator: "\n").compactMap(Self.sample)
    }

    /// The sum of all samples of a name that have these labels.
    func sum(_ name: String, _ labels: [String: String] = [:]) -> Double {
        samples.filter { sample in sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value } }
            .reduce(0) { $0 + $1.value }
    }

    private static func sample(_ line: Substring) -> Sample? {
        guard line.first != "#", let space = line.lastIndex(of: " "),
            let value = Double(line[line.index(after: space)...])
        else { return nil }
        let head = line[..<space]
        guard let brace = head.firstIndex(of: "{") else { return Sample(name: String(head), labels: [:], value: value) }
        guard head.last == "}" else { return nil }
        return Sample(
            name: String(head[..<brace]), labels: labels(head[head.index(after: brace)...].dropLast()), value: value)
    }

    /// `name="value",…` with `\\`, `\"` and `\n` in the values.
    private static func labels(_ text: Substring) -> [String: String] {
        var labels: [String: String] = [:]
        var rest = text
        while let quote = rest.firstIndex(of: "\""), rest[..<quote].last == "=" {
            let name = rest[..<quote].dropLast().drop { $0 == "," || $0 == " " }
            var value = ""
            var index = rest.index(after: quote)
            while index < rest.endIndex, rest[index] != "\"" {
                if rest[index] == "\\" {
                    index = rest.index(after: index)
                    guard index < rest.endIndex else { return labels }
                    value.append(rest[index] == "n" ? "\n" : rest[index])
                } else {
                    value.append(rest[index])
                }
                index = rest.index(after: index)
            }
            guard index < rest.endIndex else { return labels }
            labels[String(name)] = value
            rest = rest[rest.index(after: index)...]
        }
        return labels
    }
}
