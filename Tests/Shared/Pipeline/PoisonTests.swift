import Testing

@testable import Pipeline

@Suite struct PoisonTests {
    enum Reason: String, StageReason {
        case undecodable
        case forged
        var countsTowardsPoisonLimit: Bool { self == .undecodable }
    }
    typealias TestVerdict = Verdict<Int, Reason>

    static let good = TestVerdict.forward(1)
    static let poison = TestVerdict.deadLetter(.undecodable, message: "")
    static let forgery = TestVerdict.deadLetter(.forged, message: "")

    @Test func `a run of dead letters stops the worker`() {
        var gauge = PoisonGauge(PoisonLimit(consecutive: 3))
        #expect(gauge.crossing([Self.poison, Self.poison]) == nil)
        let crossed = gauge.crossing([Self.poison])
        #expect(crossed?.reason == "undecodable")
        #expect(crossed?.counted == 3)
    }

    @Test func `one good record begins the run anew`() {
        var gauge = PoisonGauge(PoisonLimit(consecutive: 3))
        #expect(gauge.crossing([Self.poison, Self.poison, Self.good, Self.poison, Self.poison]) == nil)
    }

    @Test func `forgeries never stop the line and never hide our own poison`() {
        var gauge = PoisonGauge(PoisonLimit(consecutive: 3, ratio: 0.5, window: 4))
        #expect(gauge.crossing([TestVerdict](repeating: Self.forgery, count: 10_000)) == nil)
        #expect(gauge.crossing([Self.poison, Self.forgery, Self.poison, Self.forgery, Self.poison]) != nil)
    }

    @Test func `a share of dead letters over the window stops the worker`() {
        var gauge = PoisonGauge(PoisonLimit(consecutive: 1000, ratio: 0.5, window: 10))
        let half = [TestVerdict](repeating: Self.poison, count: 5) + [TestVerdict](repeating: Self.good, count: 5)
        #expect(gauge.crossing(half) == nil)
        #expect(gauge.crossing([Self.good, Self.poison, Self.poison, Self.poison, Self.poison, Self.poison]) == nil)
        #expect(gauge.crossing([Self.poison, Self.poison]) != nil)
    }
}
