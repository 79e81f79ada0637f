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

    @Test func `a run of dead letters stops the worker`() {
        var gauge = RejectionCounter(RejectionLimit(consecutive: 3))
        #expect(gauge.crossing([Self.rejected, Self.rejected]) == nil)
        let crossed = gauge.crossing([Self.rejected])
        #expect(crossed?.reason == "undecodable")
        #expect(crossed?.counted == 3)
    }

    @Test func `one good record begins the run anew`() {
        var gauge = RejectionCounter(RejectionLimit(consecutive: 3))
        #expect(gauge.crossing([Self.rejected, Self.rejected, Self.good, Self.rejected, Self.rejected]) == nil)
    }

    @Test func `RejectionLimit ignores forgeries between counted rejections`() {
        var gauge = RejectionCounter(RejectionLimit(consecutive: 3, ratio: 0.5, window: 4))
        #expect(gauge.crossing([TestResult](repeating: Self.forgery, count: 10_000)) == nil)
        #expect(gauge.crossing([Self.rejected, Self.forgery, Self.rejected, Self.forgery, Self.rejected]) != nil)
    }

    @Test func `a share of dead letters over the window stops the worker`() {
        var gauge = RejectionCounter(RejectionLimit(consecutive: 1000, ratio: 0.5, window: 10))
        let half = [TestResult](repeating: Self.rejected, count: 5) + [TestResult](repeating: Self.good, count: 5)
        #expect(gauge.crossing(half) == nil)
        #expect(
            gauge.crossing([Self.good, Self.rejected, Self.rejected, Self.rejected, Self.rejected, Self.rejected])
                == nil)
        #expect(gauge.crossing([Self.rejected, Self.rejected]) != nil)
    }
}
