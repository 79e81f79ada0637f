import CoreMetrics
import Foundation
import Testing

@testable import Chassis

@Suite struct MetricsTests {
    @Test func `Metrics are listed once, under a name that says kind and unit`() throws {
        #expect(Set(Metric.all.map(\.name)).count == Metric.all.count)
        for metric in Metric.all {
            #expect(try #/storekeeper_[a-z0-9_]+/#.wholeMatch(in: metric.name) != nil, "\(metric.name)")
            #expect(metric.help.hasSuffix("."), "\(metric.name)")
            #expect(metric.name.hasSuffix("_total") == (metric.kind == .counter), "\(metric.name)")
            #expect(!metric.name.contains("milli") && !metric.name.contains("_ms"), "\(metric.name)")
            if case .histogram(let buckets) = metric.kind {
                #expect(buckets == buckets.sorted() && Set(buckets).count == buckets.count, "\(metric.name)")
            }
        }
    }

    @Test func `Metrics of the file are all in the list`() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Shared/Framework/Chassis/Metrics.swift")
        let text = try String(contentsOf: file, encoding: .utf8)
        let declared = text.matches(of: #/= (?:counter|gauge|histogram)\(\s*"([a-z0-9_]+)"/#).map { String($0.1) }
        #expect(declared == Metric.all.map(\.name))
    }

    @Test func `Metrics are together a readable exposition`() throws {
        let registry = MetricRegistry(metrics: Metric.all)
        for metric in Metric.all {
            let dimensions = metric.labels.map { ($0, "value") }
            switch metric.kind {
            case .counter: Counter(label: metric.name, dimensions: dimensions, factory: registry).increment()
            case .gauge: Gauge(label: metric.name, dimensions: dimensions, factory: registry).record(1)
            case .histogram: Timer(label: metric.name, dimensions: dimensions, factory: registry).recordSeconds(1)
            }
        }
        let exposition = try ExpositionGrammar(registry.exposition())
        #expect(Set(exposition.types.keys) == Set(Metric.all.map(\.name)))
    }
}
