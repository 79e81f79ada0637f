import AsyncHTTPClient
import Contracts
import Foundation
import NIOCore
import Storage
import StrictJSON
import TestSupport
import Testing

@testable import API

/// The feed of changes.
struct EventTests {
    private func ids(_ answer: RunningAPI.Answer) -> [String] {
        (answer.json?["data"]?.elements ?? []).compactMap { $0["data"]?["notificationUUID"]?.string }
    }

    @Test func `Events are read to their end and gone on from there`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key()
            let first = try await state.subscribed()
            try await state.subscribed(purchase: "2", environment: .production)
            let second = try await state.subscribed("DID_RENEW", nil, from: 0, to: 2000, transaction: "4")
            try await api.eventsAreDecided()
            let page = try await api.get("/v1/events?limit=1", key: key)
            #expect(ids(page) == [first.uuidString.lowercased()] && page.json?["hasMore"]?.bool == true)
            let id = page.json?["data"]?.elements.first?["id"]?.string
            #expect(id == "\(first.uuidString.lowercased())/\(SampleState.purchase)")
            var next = try #require(page.json?["nextCursor"]?.string)
            let rest = try await api.get("/v1/events?after=\(next)", key: key)
            #expect(ids(rest) == [second.uuidString.lowercased()] && rest.json?["hasMore"]?.bool == false)
            next = try #require(rest.json?["nextCursor"]?.string)
            #expect(ids(try await api.get("/v1/events?after=\(next)", key: key)).isEmpty)
            #expect(ids(try await api.get("/v1/events?after=latest", key: key)).isEmpty)
            let other = try await api.key(bundleIds: ["com.example.other"])
            #expect(ids(try await api.get("/v1/events", key: other)).isEmpty)
        }
    }

    @Test func `Events of others are read once: the cursor of a page without events is behind them`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key()
            try await state.subscribed()
            try await state.subscribed("DID_RENEW", nil, from: 0, to: 2000, transaction: "4")
            try await api.eventsAreDecided()
            let quiet = try await api.key(bundleIds: ["com.example.other"])
            let page = try await api.get("/v1/events", key: quiet)
            #expect(ids(page).isEmpty && page.json?["hasMore"]?.bool == false)
            let next = try #require(page.json?["nextCursor"]?.string)
            #expect(ids(try await api.get("/v1/events?after=\(next)", key: key)).isEmpty)
        }
    }

    @Test func `One look reads a span of ids, and says whether some are left`() async throws {
        try await SampleState.with { api, state in
            try await state.subscribed(environment: .production)
            try await state.subscribed(purchase: "2", environment: .production)
            let third = try await state.subscribed(purchase: "3")
            let feed = EventFeed(state.connection)
            let horizon = try await feed.reading().greatest
            func page(after id: Int64, limit: Int = 100, span: Int64) async throws -> EventFeed.Page {
                try await feed.page(
                    after: id, upTo: horizon, in: .sandbox, bundleIds: nil, limit: limit, span: span)
            }
            let first = try await page(after: horizon - 3, span: 2)
            #expect(first.events.isEmpty && first.position == horizon - 1 && first.hasMore)
            let second = try await page(after: first.position, span: 2)
            #expect(second.events.map(\.message.notificationUUID) == [third])
            #expect(second.position == horizon && !second.hasMore)
            let end = try await page(after: horizon, span: 2)
            #expect(end.events.isEmpty && end.position == horizon && !end.hasMore)
            let full = try await page(after: 0, limit: 1, span: .max)
            #expect(full.events.count == 1 && full.position == full.events[0].id)
        }
    }

    @Test func `Events are gone on from by the sequence of any message, in the feed, the timeline and the topic`()
        async throws
    {
        try await SampleState.with { api, state in
            let key = try await api.key()
            try await state.subscribed()
            let second = try await state.subscribed("DID_RENEW", nil, from: 0, to: 2000, transaction: "4")
            try await api.eventsAreDecided()
            let feed = try await api.get("/v1/events", key: key).json?["data"]?.elements ?? []
            let timeline =
                try await api.get("/v1/subscriptions/\(SampleState.purchase)/timeline", key: key)
                .json?["data"]?.elements ?? []
            let topic = try await OutboxStore(state.connection).changes().map(\.message)
            let sequences = feed.compactMap { $0["data"]?["sequence"]?.int64 }
            #expect(sequences.count == 2 && topic.map(\.sequence) == sequences)
            #expect(timeline.compactMap { $0["data"]?["sequence"]?.int64 } == sequences)
            let first = try #require(sequences.first)
            #expect(
                ids(try await api.get("/v1/events?after=\(first)", key: key)) == [second.uuidString.lowercased()])
            #expect(ids(try await api.get("/v1/events?after=\(sequences[1])", key: key)).isEmpty)
            #expect(ids(try await api.get("/v1/events?after=0", key: key)).count == 2)
            let wrong = try await api.get("/v1/events?after=99999999999999999999", key: key)
            #expect(wrong.status == 400)
            #expect(feed.first?["data"]?["transaction"]?["productId"]?.string != nil)
        }
    }

    @Test func `Events of a transaction that is still open hold back those behind them`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key()
            // Another transaction that writes, and takes its id before the event's.
            try await state.connection.run(unsafeScript: "create table other (id integer)")
            let open = TestDatabase.connection(api.database)
            try await open.run(unsafeScript: "begin; insert into other values (1)")
            let uuid = try await state.subscribed()
            try await api.horizon.turn()
            #expect(ids(try await api.get("/v1/events", key: key)).isEmpty)
            try await open.run(unsafeScript: "commit")
            try await api.eventsAreDecided()
            #expect(ids(try await api.get("/v1/events", key: key)) == [uuid.uuidString.lowercased()])
            await open.close()
        }
    }

    @Test func `Horizon moves only over what every transaction has decided`() {
        var horizon = EventFeed.Horizon()
        let start = ContinuousClock.now
        func read(_ greatest: Int64, next: Int64, oldest: Int64) -> Int64? {
            horizon.advance(
                EventFeed.Reading(greatest: greatest, nextTransaction: next, oldestRunning: oldest), at: start)
            return horizon.id
        }
        #expect(read(7, next: 100, oldest: 90) == nil)
        #expect(read(9, next: 105, oldest: 99) == nil)
        #expect(read(9, next: 110, oldest: 100) == 7)
        #expect(read(12, next: 120, oldest: 104) == 7)
        #expect(read(12, next: 121, oldest: 121) == 12)
        #expect(read(12, next: 121, oldest: 121) == 12)
        var empty = EventFeed.Horizon()
        empty.advance(EventFeed.Reading(greatest: 0, nextTransaction: 5, oldestRunning: 5), at: start)
        #expect(empty.id == 0)
    }

    @Test func `Horizon begins again where the database was put back to an earlier state`() {
        var horizon = EventFeed.Horizon()
        let start = ContinuousClock.now
        func read(_ greatest: Int64, next: Int64, oldest: Int64) -> Int64? {
            horizon.advance(
                EventFeed.Reading(greatest: greatest, nextTransaction: next, oldestRunning: oldest), at: start)
            return horizon.id
        }
        #expect(read(100, next: 1000, oldest: 1000) == 100)
        // Not decided when the database ends.
        #expect(read(103, next: 1005, oldest: 1003) == 100)
        #expect(read(60, next: 600, oldest: 598) == nil)
        #expect(read(61, next: 605, oldest: 600) == 60)
        #expect(read(61, next: 606, oldest: 606) == 61)
        // Of another cluster, with more transactions and fewer events.
        #expect(read(50, next: 9000, oldest: 9000) == 50)
    }

    @Test func `Horizon knows for how long the oldest event has not been decided`() {
        var horizon = EventFeed.Horizon()
        let start = ContinuousClock.now
        func read(_ greatest: Int64, next: Int64, oldest: Int64, after seconds: Int) -> Duration {
            let instant = start + .seconds(seconds)
            horizon.advance(
                EventFeed.Reading(greatest: greatest, nextTransaction: next, oldestRunning: oldest), at: instant)
            return horizon.undecided(at: instant)
        }
        #expect(read(7, next: 100, oldest: 100, after: 0) == .zero)
        #expect(read(8, next: 110, oldest: 105, after: 10) == .zero)
        #expect(read(9, next: 120, oldest: 105, after: 20) == .seconds(10))
        #expect(read(9, next: 130, oldest: 105, after: 60) == .seconds(50))
        #expect(read(9, next: 130, oldest: 110, after: 61) == .seconds(41))
        #expect(read(9, next: 130, oldest: 130, after: 62) == .zero)
        #expect(read(9, next: 140, oldest: 135, after: 99) == .zero)
    }

    @Test func `Stream tells what happens, and ends with its key`() async throws {
        try await SampleState.with { api, state in
            let key = try await api.key()
            let seen = Steps()
            await api.looks.before {
                switch await seen.next() {
                case 1:
                    try await state.subscribed()
                    try await api.eventsAreDecided()
                case 2:
                    // Revoked: the table does not have it any more.
                    try await state.connection.run(unsafeScript: "update api_key set revoked_at = now()")
                    try await api.keys.turn()
                default: break
                }
            }
            let answer = try await api.get("/v1/events/stream", key: key)
            #expect(answer.status == 200 && answer.headers["content-type"] == "text/event-stream")
            let lines = String(decoding: answer.body, as: UTF8.self).split(separator: "\n").map(String.init)
            #expect(lines.count { $0 == "event: subscription.changed" } == 1)
            let data = try #require(lines.first { $0.hasPrefix("data: ") })
            let json = try JSONDocument(Array(data.dropFirst(6).utf8)).root
            #expect(json["data"]?["originalTransactionId"]?.string == SampleState.purchase)
            let places = lines.filter { $0.hasPrefix("id: ") }.map { $0.dropFirst(4) }
            try #require(places.count == 2)
            let again = try await api.key()
            // A connection that ends before the first event has the place to go on from.
            #expect(ids(try await api.get("/v1/events?after=\(places[0])", key: again)).count == 1)
            #expect(ids(try await api.get("/v1/events?after=\(places[1])", key: again)).isEmpty)
        }
    }
}

/// Counts.
private actor Steps {
    private var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
