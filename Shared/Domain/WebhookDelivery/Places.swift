import struct Foundation.UUID

/// The requests that one process sends at a time, and whose they are. No I/O.
///
/// An endpoint begins with two at a time and earns one for every five successes, up to ten, so that a slow or dead receiver never
/// holds many of the places; free ones go round, one at a time, so that a long queue does not take them from others. Places beyond
/// the first two are given only as far as two remain for each other endpoint: otherwise receivers that answered well and died
/// together would hold all places until their requests time out.
package struct Places: Sendable {
    /// Of a process.
    package static let total = 64
    /// At a time, to a receiver that has not answered yet.
    package static let first = 2
    /// At a time, to a receiver that answers.
    package static let most = 10
    /// Deliveries that a process leases at most while all places are in use, so that a place that becomes free waits for no lease.
    package static let mostAhead = 32
    /// Successes that earn a place.
    package static let successesForOne = 5

    private struct Share {
        var used = 0
        var ahead = 0
        var limit = Places.first
        var successes = 0
    }

    private let total: Int
    private var used = 0
    private var ahead = 0
    private var shares: [UUID: Share] = [:]
    /// Who was offered a place last.
    private var last: UUID?

    /// - Parameter total: places of the process.
    package init(total: Int = Self.total) { self.total = total }

    /// Places that are free.
    package var free: Int { total - used }

    /// Places that an endpoint uses.
    package func used(by endpoint: UUID) -> Int { shares[endpoint]?.used ?? 0 }

    /// How many places each endpoint may take now: the free ones, one after the other, beginning behind who was offered one last.
    /// - Parameters:
    ///   - endpoints: those with something to send; of an endpoint that fails at most one place is in use.
    ///   - known: how many endpoints there are.
    ///   - more: how many are offered beyond the free places, to be leased ahead; of them at most ``mostAhead``.
    package mutating func offers(
        to endpoints: [(id: UUID, isFailing: Bool)], of known: Int, ahead more: Int = 0
    ) -> [UUID: Int] {
        guard !endpoints.isEmpty else { return [:] }
        var offers: [UUID: Int] = [:]
        let mostAhead = max(ahead, min(more, Self.mostAhead))
        var further = shares.values.reduce(0) { $0 + max(0, $1.used + $1.ahead - Self.first) }
        let mostFurther = mostFurther(of: max(known, endpoints.count)) + mostAhead
        var place = (endpoints.firstIndex { $0.id == last } ?? -1) + 1
        var (left, passed) = (free + mostAhead - ahead, 0)
        while left > 0, passed < endpoints.count {
            let (id, isFailing) = endpoints[place % endpoints.count]
            place += 1
            let share = shares[id] ?? Share()
            let limit = isFailing ? 1 : share.limit
            let taken = share.used + share.ahead + offers[id, default: 0]
            guard taken < limit, taken < Self.first || further < mostFurther else {
                passed += 1
                continue
            }
            passed = 0
            if taken >= Self.first { further += 1 }
            offers[id, default: 0] += 1
            last = id
            left -= 1
        }
        return offers
    }

    /// The places beyond the first two of each endpoint, which any of them may earn.
    private func mostFurther(of known: Int) -> Int { max(0, total - Self.first * known) }

    /// True where a request to an endpoint may begin: what was leased ahead keeps the rules by which places are offered.
    /// - Parameter known: how many endpoints there are.
    package func hasRoom(for endpoint: UUID, of known: Int) -> Bool {
        let share = shares[endpoint] ?? Share()
        guard free > 0, share.used < share.limit else { return false }
        return share.used < Self.first
            || shares.values.reduce(0) { $0 + max(0, $1.used - Self.first) } < mostFurther(of: known)
    }

    /// A delivery of an endpoint was leased ahead: it counts as one of its places where more are offered.
    package mutating func hold(for endpoint: UUID) {
        shares[endpoint, default: Share()].ahead += 1
        ahead += 1
    }

    /// A delivery that was leased ahead begins, or is given back.
    package mutating func unhold(for endpoint: UUID) {
        guard let share = shares[endpoint], share.ahead > 0 else { return }
        shares[endpoint]?.ahead -= 1
        ahead -= 1
    }

    /// An endpoint uses as many more.
    package mutating func take(_ count: Int, for endpoint: UUID) {
        shares[endpoint, default: Share()].used += count
        used += count
    }

    /// A request has ended.
    /// - Parameter hasSucceeded: a failure takes back what was earned; nil where none was made, which says nothing about the receiver.
    package mutating func release(of endpoint: UUID, hasSucceeded: Bool?) {
        guard var share = shares[endpoint], share.used > 0 else { return }
        share.used -= 1
        used -= 1
        switch hasSucceeded {
        case true?:
            share.successes += 1
            if share.successes % Self.successesForOne == 0 { share.limit = min(Self.most, share.limit + 1) }
        case false?: (share.successes, share.limit) = (0, Self.first)
        case nil: break
        }
        shares[endpoint] = share
    }

    /// Forgets endpoints that were removed, except while they use places or hold leases.
    package mutating func keep(_ endpoints: Set<UUID>) {
        shares = shares.filter { endpoints.contains($0.key) || $0.value.used > 0 || $0.value.ahead > 0 }
    }
}
