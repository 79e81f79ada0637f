import Foundation
import Testing

@testable import WebhookDelivery

@Suite struct PlacesTests {
    static let ids = (0..<20).map { _ in UUID() }

    private func all(_ count: Int, failing: Set<Int> = []) -> [(id: UUID, isFailing: Bool)] {
        (0..<count).map { (Self.ids[$0], failing.contains($0)) }
    }

    @Test func `An endpoint begins with two places and earns one for five successes, up to ten`() {
        var places = Places()
        let one = Self.ids[0]
        var limits: [Int] = []
        for _ in 0..<60 {
            let offer = places.offers(to: all(1), of: 1)[one] ?? 0
            limits.append(offer)
            places.take(1, for: one)
            places.release(of: one, hasSucceeded: true)
        }
        #expect(limits[0] == 2 && limits[4] == 2 && limits[5] == 3 && limits[9] == 3 && limits[10] == 4)
        #expect(limits.max() == 10 && limits.last == 10)
        places.take(1, for: one)
        places.release(of: one, hasSucceeded: false)
        #expect(places.offers(to: all(1), of: 1)[one] == 2)
    }

    @Test func `A delivery for which no request was made neither earns a place nor takes one back`() {
        var places = Places()
        let one = Self.ids[0]
        for hasSucceeded in [true, true, true, true, true, nil, nil] as [Bool?] {
            places.take(1, for: one)
            places.release(of: one, hasSucceeded: hasSucceeded)
        }
        #expect(places.used(by: one) == 0 && places.offers(to: all(1), of: 1)[one] == 3)
    }

    @Test func `A failing endpoint has one place`() {
        var places = Places()
        #expect(places.offers(to: all(2, failing: [0]), of: 2) == [Self.ids[0]: 1, Self.ids[1]: 2])
        places.take(1, for: Self.ids[0])
        #expect(places.offers(to: all(1, failing: [0]), of: 1).isEmpty)
    }

    @Test func `Places go round: those that get none this time get one first the next time`() {
        var places = Places(total: 3)
        let first = places.offers(to: all(5), of: 5)
        #expect(Set(first.keys) == Set(Self.ids[0..<3]) && first.values.allSatisfy { $0 == 1 })
        let second = places.offers(to: all(5), of: 5)
        #expect(second == [Self.ids[3]: 1, Self.ids[4]: 1, Self.ids[0]: 1])
    }

    @Test func `Endpoints that answered well and die together leave two places to each other one`() {
        var places = Places()
        for id in Self.ids {
            for _ in 0..<40 {
                places.take(1, for: id)
                places.release(of: id, hasSucceeded: true)
            }
        }
        let dead = Array(all(20).prefix(10))
        for _ in 0..<10 { for (id, count) in places.offers(to: dead, of: 20) { places.take(count, for: id) } }
        #expect(dead.map { places.used(by: $0.id) }.reduce(0, +) == 44)
        let others = Array(all(20).suffix(10))
        #expect(places.offers(to: others, of: 20) == Dictionary(uniqueKeysWithValues: others.map { ($0.id, 2) }))
    }

    @Test func `All places are never exceeded, and none is lost`() {
        var places = Places(total: 64)
        for _ in 0..<100 {
            for (id, count) in places.offers(to: all(20), of: 20) { places.take(count, for: id) }
            #expect(places.free >= 0)
            for id in Self.ids where places.used(by: id) > 0 { places.release(of: id, hasSucceeded: true) }
        }
        for id in Self.ids { while places.used(by: id) > 0 { places.release(of: id, hasSucceeded: true) } }
        #expect(places.free == 64)
    }

    @Test func `What is leased ahead counts as a place where more are offered, and begins by the same rules`() {
        var places = Places(total: 4)
        for (id, count) in places.offers(to: all(3), of: 3, ahead: 2) {
            for _ in 0..<count {
                if places.hasRoom(for: id, of: 3) { places.take(1, for: id) } else { places.hold(for: id) }
            }
        }
        #expect(places.free == 0 && places.offers(to: all(3), of: 3, ahead: 2).isEmpty)
        // Each has its first two, some of them ahead.
        let waiting = Self.ids.prefix(3).first { places.used(by: $0) < 2 }
        let other = Self.ids.prefix(3).first { places.used(by: $0) == 2 }
        guard let waiting, let other else {
            Issue.record("two endpoints have their places, and one waits")
            return
        }
        #expect(!places.hasRoom(for: waiting, of: 3))
        places.release(of: other, hasSucceeded: true)
        #expect(places.hasRoom(for: waiting, of: 3))
        places.unhold(for: waiting)
        places.take(1, for: waiting)
        #expect(places.free == 0)
    }

    @Test func `No more is leased ahead than allowed, and none of it takes the first two places of others`() {
        var places = Places()
        for id in Self.ids {
            for _ in 0..<40 {
                places.take(1, for: id)
                places.release(of: id, hasSucceeded: true)
            }
        }
        var held = 0
        for _ in 0..<10 {
            for (id, count) in places.offers(to: Array(all(20).prefix(10)), of: 20, ahead: 1000) {
                for _ in 0..<count {
                    if places.hasRoom(for: id, of: 20) {
                        places.take(1, for: id)
                    } else {
                        places.hold(for: id)
                        held += 1
                    }
                }
            }
        }
        #expect(held == Places.mostAhead && places.free == 20)
        #expect(Self.ids.suffix(10).allSatisfy { places.hasRoom(for: $0, of: 20) })
        #expect(places.offers(to: all(20), of: 20).values.reduce(0, +) == 20)
    }
}
