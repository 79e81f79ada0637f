import CoreMetrics
import Testing

@testable import Chassis

@Suite struct MetricRegistryTests {
    private static let requests = Metric.counter("test_requests_total", "Requests.", ["code"])
    private static let depth = Metric.gauge("test_depth", "How \"deep\" \\ it\ngoes.")
    private static let wait = Metric.histogram("test_wait_seconds", "Waiting.", ["stage"], buckets: [0.1, 1, 10])
    private let registry = MetricRegistry(metrics: [Self.requests, Self.depth, Self.wait])

    private func exposed() throws -> ExpositionGrammar { try ExpositionGrammar(registry.exposition()) }

    @Test func `MetricRegistry exposes nothing that is not used`() {
        #expect(registry.exposition() == "")
    }

    @Test func `Counter counts per label and never decreases`() throws {
        let ok = Counter(label: "test_requests_total", dimensions: [("code", "200")], factory: registry)
        ok.increment()
        ok.increment(by: 4)
        ok.increment(by: -3)
        ok.reset()
        Counter(label: "test_requests_total", dimensions: [("code", "503")], factory: registry).increment()
        let exposition = try exposed()
        #expect(exposition.types == ["test_requests_total": "counter"])
        #expect(exposition.value("test_requests_total", ["code": "200"]) == "5")
        #expect(exposition.value("test_requests_total", ["code": "503"]) == "1")
    }

    @Test func `MetricRegistry has one series for the same name and labels`() throws {
        for _ in 0..<3 {
            Counter(label: "test_requests_total", dimensions: [("code", "200")], factory: registry).increment()
        }
        #expect(try exposed().value("test_requests_total", ["code": "200"]) == "3")
    }

    @Test func `Gauge shows the latest value, and its help is escaped`() throws {
        let gauge = Gauge(label: "test_depth", factory: registry)
        gauge.record(7)
        gauge.record(2.5)
        let exposition = try exposed()
        #expect(exposition.value("test_depth") == "2.5")
        #expect(exposition.help["test_depth"] == "How \"deep\" \\\\ it\\ngoes.")
    }

    @Test func `A gauge that is destroyed is no longer exposed, and a counter is`() throws {
        let gauge = Gauge(label: "test_depth", factory: registry)
        let counter = Counter(label: "test_requests_total", dimensions: [("code", "200")], factory: registry)
        gauge.record(7)
        counter.increment()
        gauge.destroy()
        counter.destroy()
        #expect(try exposed().value("test_depth") == nil)
        #expect(try exposed().value("test_requests_total", ["code": "200"]) == "1")
        Gauge(label: "test_depth", factory: registry).record(2)
        #expect(try exposed().value("test_depth") == "2")
    }

    @Test func `Meter goes up and down`() throws {
        let meter = Meter(label: "test_depth", factory: registry)
        meter.set(3)
        meter.increment(by: 2)
        meter.decrement(by: 1)
        #expect(try exposed().value("test_depth") == "4")
    }

    @Test func `Histogram exposes durations in seconds, in cumulative buckets with inclusive bounds`() throws {
        let timer = Timer(label: "test_wait_seconds", dimensions: [("stage", "a")], factory: registry)
        timer.recordMilliseconds(50)
        timer.recordMilliseconds(100)
        timer.recordSeconds(5)
        timer.recordSeconds(50)
        let exposition = try exposed()
        let buckets = ["0.1", "1", "10", "+Inf"].map {
            exposition.value("test_wait_seconds_bucket", ["stage": "a", "le": $0])
        }
        #expect(buckets == ["2", "2", "3", "4"])
        #expect(exposition.value("test_wait_seconds_sum", ["stage": "a"]) == "55.15")
        #expect(exposition.value("test_wait_seconds_count", ["stage": "a"]) == "4")
    }

    @Test func `Histogram exposes numbers that are not durations, too`() throws {
        let recorder = Recorder(label: "test_wait_seconds", dimensions: [("stage", "b")], factory: registry)
        recorder.record(3)
        recorder.record(Double.nan)
        let exposition = try exposed()
        #expect(exposition.value("test_wait_seconds_bucket", ["stage": "b", "le": "10"]) == "1")
        #expect(exposition.value("test_wait_seconds_count", ["stage": "b"]) == "1")
    }

    @Test(arguments: ["a\"b", "a\\b", "a\nb", "\\n", "", "Grüße", "{},= "])
    func `Label values are escaped so that they are read as they were`(value: String) throws {
        Counter(label: "test_requests_total", dimensions: [("code", value)], factory: registry).increment()
        #expect(try exposed().value("test_requests_total", ["code": value]) == "1")
    }

    @Test func `MetricRegistry gives a library's metric a name that the format allows`() throws {
        Counter(label: "3rd.party-requests", dimensions: [("http.code", "1")], factory: registry).increment()
        #expect(try exposed().value("_3rd_party_requests", ["http_code": "1"]) == "1")
    }

    @Test func `MetricRegistry keeps the first of two kinds with one name, and the exposition readable`() throws {
        Counter(label: "test_requests_total", dimensions: [("code", "200")], factory: registry).increment()
        Gauge(label: "test_requests_total", dimensions: [("code", "200")], factory: registry).record(9)
        Counter(label: "test_requests_total", dimensions: [("other", "x"), ("code", "y")], factory: registry)
            .increment()
        let exposition = try exposed()
        #expect(exposition.samples.count == 1)
        #expect(exposition.value("test_requests_total", ["code": "200"]) == "1")
    }

    @Test(arguments: [
        (0.0, "0"), (1e6, "1000000"), (0.25, "0.25"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
        (1e300, "1e+300"),
    ])
    func `Numbers are written as the format reads them`(number: Double, text: String) {
        #expect(PrometheusText.number(number) == text)
    }

    @Test func `Counter counts increments of many tasks`() async throws {
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask { [registry] in
                    let counter = Counter(
                        label: "test_requests_total", dimensions: [("code", "200")], factory: registry)
                    for _ in 0..<1000 { counter.increment() }
                }
            }
        }
        #expect(try exposed().value("test_requests_total", ["code": "200"]) == "8000")
    }
}
