import Testing

@testable import Pipeline

@Suite struct RejectionLimitTests {
    enum Reason: String, StageReason {
        case undecodable
        case forged
        var countsTowardsRejectionLimit: Bool { self == .undecodable }
    }
    typealias TestResult = StageResult<Int, Reason>

    static let good = TestResult.forward(1)
    static let rejected = TestResult.deadLetter(.undecodable, message: "")
    static let forgery = TestResult.deadLetter(.forged, message: "")

    @Test func `RejectionLimit stops the worker at a run of dead letters`() {
        var counter = RejectionCounter(RejectionLimit(consecutive: 3))
        #expect(counter.crossing(distinct: [Self.rejected, Self.rejected]) == nil)
        let crossed = counter.crossing(distinct: [Self.rejected])
        #expect(crossed?.reason == "undecodable")
        #expect(crossed?.counted == 3)
    }

    @Test func `RejectionLimit begins the run again after one good record`() {
        var counter = RejectionCounter(RejectionLimit(consecutive: 3))
        #expect(
            counter.crossing(distinct: [Self.rejected, Self.rejected, Self.good, Self.rejected, Self.rejected]) == nil)
    }

    @Test func `RejectionLimit ignores forgeries between counted rejections`() {
        var counter = RejectionCounter(RejectionLimit(consecutive: 3, ratio: 0.5, window: 4))
        #expect(counter.crossing(distinct: [TestResult](repeating: Self.forgery, count: 10_000)) == nil)
        #expect(
            counter.crossing(distinct: [Self.rejected, Self.forgery, Self.rejected, Self.forgery, Self.rejected]) != nil
        )
    }

    @Test func `RejectionLimit stops the worker at a share of dead letters over the window`() {
        var counter = RejectionCounter(RejectionLimit(consecutive: 1000, ratio: 0.5, window: 10))
        let half = [TestResult](repeating: Self.rejected, count: 5) + [TestResult](repeating: Self.good, count: 5)
        #expect(counter.crossing(distinct: half) == nil)
        #expect(
            counter.crossing(distinct: [
                Self.good, Self.rejected, Self.rejected, Self.rejected, Self.rejected, Self.rejected,
            ])
                == nil)
        #expect(counter.crossing(distinct: [Self.rejected, Self.rejected]) != nil)
    }

    @Test func `RejectionLimit counts one payload repeated 4,324 times once`() {
        var counter = RejectionCounter(RejectionLimit(consecutive: 3, ratio: 0.1, window: 10))
        for _ in 0..<4324 {
            guard counter.crossing([(Self.rejected, [1]), (Self.rejected, [2])]) == nil else {
                Issue.record("a repetition was counted")
                return
            }
        }
        #expect(counter.crossing([(Self.rejected, [3])])?.counted == 3)
    }

    @Test func `RejectionLimit does not count a repeated payload again after a good record`() {
        var counter = RejectionCounter(RejectionLimit(consecutive: 2, ratio: 0.1, window: 1000))
        #expect(
            counter.crossing([(Self.rejected, [1]), (Self.good, [9]), (Self.rejected, [2]), (Self.rejected, [1])])
                == nil)
        #expect(counter.crossing([(Self.rejected, [3])]) != nil)
    }

    @Test func `RejectionLimit counts different payloads about one purchase once`() {
        struct AboutPurchase: StageReason {
            static let undecodable = AboutPurchase(rawValue: "undecodable")
            var rawValue: String
            var subject: String?
            var countsTowardsRejectionLimit: Bool { true }
            init(rawValue: String) { self.rawValue = rawValue }
        }
        var counter = RejectionCounter(RejectionLimit(consecutive: 3))
        var reason = AboutPurchase.undecodable
        reason.subject = "2000000000000001"
        let result = StageResult<Int, AboutPurchase>.deadLetter(reason, message: "")
        #expect(counter.crossing((0..<200).map { (result, [UInt8($0)]) }) == nil)
    }

    @Test func `RejectionLimit has a bounded memory`() {
        var counter = RejectionCounter(RejectionLimit(consecutive: .max, ratio: 1, window: 10))
        let many = (0..<2 * RejectionCounter.memory).map { number in
            (Self.rejected, withUnsafeBytes(of: number) { Array($0) })
        }
        #expect(counter.crossing(many) == nil)
        #expect(counter.remembered == RejectionCounter.memory)
    }
}

extension RejectionCounter {
    /// Each of another record.
    fileprivate mutating func crossing(distinct results: [RejectionLimitTests.TestResult]) -> (
        reason: String, counted: Int
    )? {
        crossing(results.map { ($0, withUnsafeBytes(of: UInt64.random(in: 0 ... .max)) { Array($0) }) })
    }
}
