import Metrics
import Synchronization

/// Keeps every metric of the process and writes them in Prometheus' text format 0.0.4.
///
/// Not a library, because the format is one page and a scrape must only read: no aggregation windows, no
/// timers, no dependency.
final class MetricRegistry: MetricsFactory {
    private struct Family {
        let metric: Metric
        /// In the order of first use; distinguished by label values.
        var series: [[String]: any Series] = [:]
    }

    private let declared: [String: Metric]
    private let families: Mutex<[String: Family]>

    /// - Parameter metrics: the declared ones; a process exposes those that it uses.
    init(metrics: [Metric]) {
        declared = Dictionary(metrics.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        families = Mutex(declared.mapValues { Family(metric: $0) })
    }

    func exposition() -> String {
        let families = self.families.withLock { $0 }
        var text = ""
        for family in families.values.sorted(by: { $0.metric.name < $1.metric.name }) where !family.series.isEmpty {
            text += PrometheusText.head(family.metric)
            for (values, series) in family.series.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
                let labels = Array(zip(family.metric.labels, values))
                for sample in series.samples {
                    text += PrometheusText.sample(
                        family.metric.name + sample.suffix, labels + sample.labels, sample.value)
                }
            }
        }
        return text
    }

    // MARK: MetricsFactory

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, kind: .counter) { CounterSeries() }
    }

    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        aggregate
            ? histogram(label, dimensions)
            : series(label, dimensions, kind: .gauge) { GaugeSeries() } as any RecorderHandler
    }

    func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, kind: .gauge) { GaugeSeries() }
    }

    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions)
    }

    // A counter stays until the process ends: one that disappears and returns looks like a restart.
    func destroyCounter(_ handler: any CounterHandler) {}
    /// Ends a gauge, of a subject that is gone: an alert would keep its last value.
    func destroyRecorder(_ handler: any RecorderHandler) {
        guard let gauge = handler as? GaugeSeries else { return }
        families.withLock { families in
            for (label, family) in families {
                families[label]?.series = family.series.filter { $0.value !== gauge }
            }
        }
    }
    func destroyMeter(_ handler: any MeterHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}

    private func histogram(_ label: String, _ dimensions: [(String, String)]) -> HistogramSeries {
        var buckets = Metric.stageBuckets
        if case .histogram(let own) = declared[label]?.kind { buckets = own }
        return series(label, dimensions, kind: .histogram(buckets: buckets)) { HistogramSeries(buckets: buckets) }
    }

    /// The series with these labels, created on first use.
    ///
    /// A name that is used as two kinds keeps the first; the later one is counted but not exposed, because a
    /// scrape that cannot be parsed would lose all the others.
    private func series<Kind: Series>(
        _ label: String, _ dimensions: [(String, String)], kind: Metric.Kind, make: () -> Kind
    ) -> Kind {
        families.withLock { families in
            let metric =
                families[label]?.metric
                ?? Metric(
                    name: PrometheusText.name(label), help: "Reported by a library.",
                    labels: dimensions.map { PrometheusText.name($0.0) }, kind: kind)
            let values = dimensions.map(\.1)
            guard metric.kind == kind, metric.labels.count == values.count else { return make() }
            if let known = families[label]?.series[values] as? Kind { return known }
            let made = make()
            families[label, default: Family(metric: metric)].series[values] = made
            return made
        }
    }
}
