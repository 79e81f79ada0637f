import CoreMetrics

/// A metric's name, kind, help and labels.
///
/// The instances are in Metrics.swift.
public struct Metric: Sendable {
    enum Kind: Sendable, Equatable {
        case counter
        case gauge
        case histogram(buckets: [Double])
    }

    let name: String
    let help: String
    let labels: [String]
    let kind: Kind

    static func counter(_ name: String, _ help: String, _ labels: [String] = []) -> Metric {
        Metric(name: name, help: help, labels: labels, kind: .counter)
    }

    static func gauge(_ name: String, _ help: String, _ labels: [String] = []) -> Metric {
        Metric(name: name, help: help, labels: labels, kind: .gauge)
    }

    static func histogram(
        _ name: String, _ help: String, _ labels: [String] = [], buckets: [Double]
    ) -> Metric {
        Metric(name: name, help: help, labels: labels, kind: .histogram(buckets: buckets))
    }

    /// A counter with values for the metric's labels, in their order.
    ///
    /// Looking it up takes a lock: on a hot path keep the result.
    public func counter(_ values: String...) -> Counter {
        precondition(kind == .counter, "\(name) is not a counter")
        return Counter(label: name, dimensions: dimensions(values))
    }

    /// A gauge with values for the metric's labels, in their order.
    public func gauge(_ values: String...) -> Gauge {
        precondition(kind == .gauge, "\(name) is not a gauge")
        return Gauge(label: name, dimensions: dimensions(values))
    }

    /// A histogram of durations; exposed in seconds whatever unit is recorded.
    public func timer(_ values: String...) -> DurationHistogram {
        precondition(isHistogram, "\(name) is not a histogram")
        return DurationHistogram(label: name, dimensions: dimensions(values))
    }

    /// A histogram of numbers that are not durations.
    public func recorder(_ values: String...) -> Recorder {
        precondition(isHistogram, "\(name) is not a histogram")
        return Recorder(label: name, dimensions: dimensions(values))
    }

    private var isHistogram: Bool {
        if case .histogram = kind { true } else { false }
    }

    private func dimensions(_ values: [String]) -> [(String, String)] {
        precondition(values.count == labels.count, "\(name) has the labels \(labels), so it takes as many values")
        return Array(zip(labels, values))
    }
}
