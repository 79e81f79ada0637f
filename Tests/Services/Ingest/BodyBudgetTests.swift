import Synchronization
import Testing

@testable import Ingest

@Suite struct BodyBudgetTests {
    static func piece(_ count: Int) -> [UInt8] { [UInt8](repeating: 7, count: count) }

    @Test func `Budget drops the oldest incomplete body for a newer one, and its bytes at once`() {
        let budget = BodyBudget(limit: 100_000)
        let bodies = (0..<4).map { _ in budget.begin() }
        for body in bodies.prefix(3) { #expect(body.append(Self.piece(30_000))) }
        #expect(budget.held == 90_000)
        #expect(bodies[3].append(Self.piece(30_000)))
        #expect(budget.held == 90_000)
        #expect(bodies.map(\.count) == [0, 30_000, 30_000, 30_000])
        #expect(!bodies[0].append(Self.piece(1)))
        #expect(bodies[0].complete() == nil)
        #expect(bodies[1].complete()?.count == 30_000)
    }

    @Test func `Budget never drops a complete body, so one body too many is rejected`() {
        let budget = BodyBudget(limit: 100_000)
        let waiting = (0..<3).map { _ in budget.begin() }
        for body in waiting {
            #expect(body.append(Self.piece(30_000)))
            #expect(body.complete() != nil)
        }
        let late = budget.begin()
        #expect(!late.append(Self.piece(30_000)))
        #expect(late.complete() == nil || late.count == 0)
        #expect(budget.held == 90_000)
        for body in waiting { body.release() }
        #expect(budget.held == 0)
    }

    @Test func `Budget counts what a body may hold, not only what it holds`() {
        let budget = BodyBudget(limit: 1 << 20)
        let body = budget.begin()
        for _ in 0..<10 { #expect(body.append(Self.piece(1000))) }
        #expect(budget.held == 16_384)
        body.release()
        body.release()
        #expect(budget.held == 0)
    }

    @Test func `Budget holds nothing after many bodies with every kind of end`() {
        let budget = BodyBudget(limit: 50_000)
        for number in 0..<10_000 {
            let body = budget.begin()
            _ = body.append(Self.piece(number % 9000))
            if number % 3 == 0 { _ = body.complete() }
            if number % 7 != 0 || number % 3 == 0 { body.release() }
            #expect(budget.held <= 50_000)
        }
    }

    @Test func `Budget tells once when nearly all is free again after more than half was in hand`() {
        let reliefs = Mutex(0)
        let budget = BodyBudget(limit: 100_000) { reliefs.withLock { $0 += 1 } }
        for _ in 0..<100 {
            let body = budget.begin()
            #expect(body.append(Self.piece(30_000)))
            body.release()
        }
        #expect(reliefs.withLock { $0 } == 0, "usual traffic is no flood")
        let flood = (0..<10).map { _ in budget.begin() }
        for body in flood { #expect(body.append(Self.piece(30_000))) }
        #expect(reliefs.withLock { $0 } == 0)
        for body in flood { body.release() }
        #expect(reliefs.withLock { $0 } == 1)
    }
}
