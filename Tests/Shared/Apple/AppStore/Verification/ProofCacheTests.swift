import Foundation
import Testing

@testable import AppStore

@Suite struct ProofCacheTests {
    private let start = Date(timeIntervalSince1970: 1_780_000_000)

    private func key(_ number: Int) -> ArraySlice<UInt8> { Array("header \(number)".utf8)[...] }

    @Test func `ProofCache finds a proof under exactly its bytes`() {
        let cache = ProofCache<Int>(capacity: 4, lifetime: 60)
        cache.insert(1, for: key(1), now: start)
        #expect(cache.proof(for: key(1), now: start) == 1)
        #expect(cache.proof(for: key(1).dropLast(), now: start) == nil)
        #expect(cache.proof(for: key(1) + [0], now: start) == nil)
        #expect(cache.proof(for: [], now: start) == nil)
        cache.insert(2, for: key(1), now: start)
        #expect(cache.proof(for: key(1), now: start) == 2)
        #expect(cache.count == 1)
    }

    @Test func `ProofCache drops a proof after its time, also by a clock that goes back`() {
        let cache = ProofCache<Int>(capacity: 4, lifetime: 60)
        cache.insert(1, for: key(1), now: start)
        #expect(cache.proof(for: key(1), now: start.addingTimeInterval(60)) == 1)
        #expect(cache.proof(for: key(1), now: start.addingTimeInterval(61)) == nil)
        #expect(cache.proof(for: key(1), now: start.addingTimeInterval(-61)) == nil)
        cache.insert(2, for: key(2), now: start.addingTimeInterval(61))
        #expect(cache.count == 1)
    }

    @Test func `ProofCache stays bounded, and drops the least recently used first`() {
        let cache = ProofCache<Int>(capacity: 3, lifetime: 3600)
        for number in 1...3 { cache.insert(number, for: key(number), now: start.addingTimeInterval(Double(number))) }
        #expect(cache.proof(for: key(1), now: start.addingTimeInterval(10)) == 1)
        cache.insert(4, for: key(4), now: start.addingTimeInterval(11))
        #expect(cache.count == 3)
        #expect(cache.proof(for: key(2), now: start.addingTimeInterval(12)) == nil)
        #expect(cache.proof(for: key(1), now: start.addingTimeInterval(12)) == 1)
        for number in 5..<1000 { cache.insert(number, for: key(number), now: start.addingTimeInterval(20)) }
        #expect(cache.count == 3)
    }
}
