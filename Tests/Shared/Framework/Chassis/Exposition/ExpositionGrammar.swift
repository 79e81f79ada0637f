import Foundation
import Testing

/// Reads Prometheus' text format 0.0.4 by its description, and rejects everything else.
struct ExpositionGrammar {
    struct Sample: Equatable {
        var name: String
        var labels: [String: String]
        var value: String
    }

    private(set) var types: [String: String] = [:]
    private(set) var help: [String: String] = [:]
    private(set) var samples: [Sample] = []

    /// Every line is a HELP, a TYPE or a sample; a family's lines stand together, its TYPE before its samples.
    init(_ text: String) throws {
        #expect(text.isEmpty || text.hasSuffix("\n"))
        var closed: Set<String> = []
        var current: String?
        for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropLast() {
            if let match = try #/# HELP ([a-zA-Z_:][a-zA-Z0-9_:]*) ((?:[^\\\n]|\\\\|\\n)*)/#.wholeMatch(in: line) {
                let name = String(match.1)
                #expect(help[name] == nil, "second HELP for \(name)")
                help[name] = String(match.2)
                if let current { closed.insert(current) }
                current = name
            } else if let match = try #/# TYPE ([a-zA-Z_:][a-zA-Z0-9_:]*) (counter|gauge|histogram)/#.wholeMatch(
                in: line)
            {
                let name = String(match.1)
                #expect(types[name] == nil, "second TYPE for \(name)")
                #expect(current == name, "TYPE of \(name) does not follow its HELP")
                types[name] = String(match.2)
            } else {
                let sample = try Self.sample(line)
                samples.append(sample)
                let family = current ?? ""
                #expect(!closed.contains(family))
                let isHistogram = types[family] == "histogram"
                let names = isHistogram ? ["_bucket", "_sum", "_count"].map { family + $0 } : [family]
                #expect(names.contains(sample.name), "\(sample.name) stands among the lines of \(family)")
            }
        }
        #expect(Set(samples.map { "\($0.name)\($0.labels.sorted { $0.key < $1.key })" }).count == samples.count)
        try checkHistograms()
    }

    /// The value of the one sample with this name and these labels.
    func value(_ name: String, _ labels: [String: String] = [:]) -> String? {
        samples.first { $0.name == name && $0.labels == labels }?.value
    }

    private static func sample(_ line: Substring) throws -> Sample {
        let form = #/([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([-+]?(?:Inf|NaN|[0-9.]+(?:e[-+]?[0-9]+)?))/#
        let match = try #require(try form.wholeMatch(in: line), "not a line of the format: \(line)")
        var labels: [String: String] = [:]
        var rest = match.2 ?? ""
        while !rest.isEmpty {
            let pair = try #require(
                try #/([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,(?=[a-zA-Z_]))?/#.prefixMatch(in: rest),
                "not labels: \(rest)")
            #expect(labels[String(pair.1)] == nil, "a label twice")
            labels[String(pair.1)] = unescaped(pair.2)
            rest = rest[pair.range.upperBound...]
        }
        #expect(Double(match.3 == "+Inf" ? "inf" : match.3) != nil)
        return Sample(name: String(match.1), labels: labels, value: String(match.3))
    }

    private static func unescaped(_ text: Substring) -> String {
        var result = ""
        var isEscaped = false
        for character in text {
            switch (isEscaped, character) {
            case (false, "\\"): isEscaped = true
            case (true, "n"): (result, isEscaped) = (result + "\n", false)
            default: (result, isEscaped) = (result + String(character), false)
            }
        }
        return result
    }

    /// Buckets grow, the last is infinity, and the count is its value.
    private func checkHistograms() throws {
        for (name, type) in types where type == "histogram" {
            let buckets = samples.filter { $0.name == name + "_bucket" }
            let series = Dictionary(grouping: buckets) { $0.labels.filter { $0.key != "le" } }
            for (labels, buckets) in series {
                let counts = buckets.compactMap { Double($0.value) }
                let bounds = buckets.compactMap { $0.labels["le"] }
                #expect(counts == counts.sorted())
                #expect(bounds.last == "+Inf")
                #expect(value(name + "_count", labels) == buckets.last?.value)
                #expect(value(name + "_sum", labels) != nil)
            }
        }
    }
}
