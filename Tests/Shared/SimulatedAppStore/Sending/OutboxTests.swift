import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

/// One exchange after the other: what is next, how it went, what is next.
@Suite struct OutboxTests {
    private let start = ContinuousClock.now
    private let moment = Date(milliseconds: 1_790_000_000_000)
    private let accepted = Answer(status: 200, duration: .milliseconds(1))
    private let unavailable = Answer(status: 503, duration: .milliseconds(1))

    @Test func `Outbox makes as many as --count, then it is finished`() throws {
        var outbox = outbox { $0.count = 3 }
        for _ in 0..<3 {
            let delivery = try #require(new(outbox.next(at: start, now: moment)))
            #expect(outbox.answered(delivery, with: accepted, at: start) == .accepted)
        }
        guard case .finished = outbox.next(at: start, now: moment) else { return _ = Issue.record("not finished") }
    }

    @Test func `Outbox is not finished while an answer is outstanding`() throws {
        var outbox = outbox { $0.count = 1 }
        let delivery = try #require(new(outbox.next(at: start, now: moment)))
        guard case .waitForAnswer = outbox.next(at: start, now: moment) else { return _ = Issue.record("no wait") }
        #expect(outbox.answered(delivery, with: unavailable, at: start) == .retried(at: start + .seconds(1)))
        guard case .wait(let due) = outbox.next(at: start, now: moment) else { return _ = Issue.record("no wait") }
        #expect(due == start + .seconds(1))
        #expect(outbox.waitingRetries == 1)
    }

    @Test func `Retries are due in order, with the same bytes, and the sixth failure is the last`() throws {
        var outbox = outbox { $0.count = 1 }
        var delivery = try #require(new(outbox.next(at: start, now: moment)))
        let first = delivery.notification
        var instant = start
        for (attempt, wait) in [1, 12, 24, 48, 72].enumerated() {
            let due = instant + .seconds(wait)
            #expect(outbox.answered(delivery, with: unavailable, at: instant) == .retried(at: due))
            guard case .wait = outbox.next(at: due - .nanoseconds(1), now: moment) else {
                return _ = Issue.record("too early")
            }
            delivery = try #require(again(outbox.next(at: due, now: moment)))
            #expect(delivery.attempt == attempt + 2)
            #expect(delivery.notification.entry == first.entry && delivery.notification.body == first.body)
            instant = due
        }
        #expect(outbox.answered(delivery, with: unavailable, at: instant) == .givenUp)
    }

    @Test func `Due retry is sent before a new notification`() throws {
        var outbox = outbox { $0.count = 10 }
        let delivery = try #require(new(outbox.next(at: start, now: moment)))
        _ = outbox.answered(delivery, with: unavailable, at: start)
        #expect(new(outbox.next(at: start, now: moment)) != nil)
        #expect(again(outbox.next(at: start + .seconds(1), now: moment))?.attempt == 2)
    }

    @Test func `Accepted notification is repeated once, with the same bytes`() throws {
        var outbox = outbox {
            $0.count = 1
            $0.repeatedShare = 1
        }
        let delivery = try #require(new(outbox.next(at: start, now: moment)))
        #expect(outbox.answered(delivery, with: accepted, at: start) == .accepted)
        let copy = try #require(again(outbox.next(at: start, now: moment)))
        #expect(copy.isRepetition)
        #expect(copy.notification.body == delivery.notification.body)
        #expect(outbox.answered(copy, with: accepted, at: start) == .accepted)
        guard case .finished = outbox.next(at: start, now: moment) else { return _ = Issue.record("not finished") }
    }

    @Test func `Reorder window reorders and loses nothing`() {
        let plain = uuids(outbox { $0.count = 500 })
        let mixed = uuids(
            outbox {
                $0.count = 500
                $0.reorderWindow = 20
            })
        #expect(plain != mixed)
        #expect(Set(plain) == Set(mixed))
        #expect(mixed.count == 500)
    }

    @Test func `Prepared outbox gives out the same in the same order, and is not finished before it has`() throws {
        let adjust: (inout Plan) -> Void = {
            $0.count = 200
            $0.reorderWindow = 20
            $0.invalidShare = 0.1
        }
        var prepared = outbox(adjust)
        let all = prepared.prepare(now: moment)
        #expect(all.map(\.event.uuid) == uuids(outbox(adjust)))
        #expect(!prepared.isFinished)
        // What is made ahead does not depend on the moment at which it is sent.
        for expected in all {
            #expect(pending(prepared.next(at: start, now: moment.addingTimeInterval(86_400))) == expected)
        }
        #expect(pending(prepared.next(at: start, now: moment)) == nil)
    }

    @Test func `Outbox forges about the requested share, each in a variant that applies to it`() {
        var outbox = outbox {
            $0.count = 2_000
            $0.invalidShare = 0.25
        }
        var forged = 0
        while let pending = pending(outbox.next(at: start, now: moment)) {
            if let invalidVariant = pending.invalidVariant {
                forged += 1
                #expect(invalidVariant.applies(to: pending.event))
            }
        }
        #expect((400...600).contains(forged))
    }

    @Test func `Outbox makes nothing new while too many retries wait`() throws {
        var outbox = outbox { $0.retryLimit = 1 }
        let delivery = try #require(new(outbox.next(at: start, now: moment)))
        _ = outbox.answered(delivery, with: unavailable, at: start)
        guard case .wait = outbox.next(at: start, now: moment) else { return _ = Issue.record("no wait") }
    }

    @Test func `Stopped outbox takes nothing new and waits for outstanding answers`() throws {
        var outbox = outbox { $0.count = 0 }
        let delivery = try #require(new(outbox.next(at: start, now: moment)))
        outbox.stop()
        guard case .waitForAnswer = outbox.next(at: start, now: moment) else { return _ = Issue.record("no wait") }
        _ = outbox.answered(delivery, with: unavailable, at: start)
        guard case .finished = outbox.next(at: start + .seconds(9), now: moment) else {
            return _ = Issue.record("not finished")
        }
        #expect(outbox.waitingRetries == 1)
    }

    @Test func `Pace spreads deliveries evenly and catches up on a second at most`() {
        var pace = Pace(rate: 10)
        #expect(pace.wait(at: start) == nil)
        pace.begin(at: start)
        #expect(pace.wait(at: start) == start + .milliseconds(100))
        #expect(pace.wait(at: start + .milliseconds(100)) == nil)
        let late = start + .seconds(60)
        var burst = 0
        while pace.wait(at: late) == nil {
            pace.begin(at: late)
            burst += 1
        }
        #expect(burst == 11)
        #expect(Pace(rate: 0).wait(at: start) == nil)
    }

    @Test func `Percentiles are accurate to a twentieth`() {
        var latencies = Latencies()
        #expect(latencies.percentile(0.5) == 0)
        for milliseconds in 1...1000 { latencies.add(.milliseconds(milliseconds)) }
        #expect((500...525).contains(latencies.percentile(0.5)))
        #expect((950...1000).contains(latencies.percentile(0.95)))
    }

    private func outbox(_ adjust: (inout Plan) -> Void) -> Outbox {
        var plan = Plan(apps: [App(bundleId: "com.example.app", appAppleId: 1, environment: .production)])
        adjust(&plan)
        return Outbox(plan: plan, now: moment)
    }

    private func uuids(_ outbox: Outbox) -> [UUID] {
        var outbox = outbox
        var uuids: [UUID] = []
        while let pending = pending(outbox.next(at: start, now: moment)) { uuids.append(pending.event.uuid) }
        return uuids
    }

    private func pending(_ step: Outbox.Step) -> PendingNotification? {
        if case .send(let pending) = step { pending } else { nil }
    }

    private func new(_ step: Outbox.Step) -> NotificationDelivery? {
        guard let pending = pending(step), let notification = try? NotificationSignerTests.signer().write(pending)
        else { return nil }
        return NotificationDelivery(notification: notification)
    }

    private func again(_ step: Outbox.Step) -> NotificationDelivery? {
        if case .sendAgain(let delivery) = step { delivery } else { nil }
    }
}
