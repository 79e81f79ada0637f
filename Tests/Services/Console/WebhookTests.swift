import Contracts
import Foundation
import Postgres
import Storage
import Testing
import WebhookDelivery

@testable import Console

@Suite(.hangLimit) struct WebhookTests {
    @Test func `Operator tests, pauses, rotates and resumes an endpoint, each with a reason in the audit log`()
        async throws
    {
        try await Self.with(role: "operator") { console, cookie, path, token in
            let before = try await DatabaseContents(console)
            for verb in ["test", "pause", "rotate", "resume", "replay"] {
                #expect(try await console.post("\(path)/\(verb)", cookie: cookie, ["reason": "r"]).status == 403)
                let answer = try await console.post("\(path)/\(verb)", cookie: cookie, ["token": token])
                #expect(answer.status == 422 && answer.text.contains("reason is missing"), "\(verb)")
            }
            #expect(try await DatabaseContents(console).text == before.text)
            for (verb, state, generation) in [
                ("test", "testing", 1), ("pause", "paused", 1), ("rotate", "paused", 2), ("resume", "testing", 2),
            ] {
                let fields = ["token": token, "reason": "ticket 812"]
                let dry = try await console.post(
                    "\(path)/\(verb)", cookie: cookie, fields.merging(["step": "plan"]) { $1 })
                #expect(dry.status == 200 && dry.text.contains("What would happen"), "\(verb)")
                let done = try await console.post("\(path)/\(verb)", cookie: cookie, fields)
                #expect(done.status == 303, "\(verb): \(done.text)")
                let page = try await console.get(try #require(done.header("location")), cookie: cookie)
                #expect(page.status == 200 && page.text.contains(state))
                let (entry, action) = try await console.withOwner { connection in
                    (
                        try await WebhookEndpointStore(connection).all().first,
                        try await OperatorActionStore(connection).newest(1).first
                    )
                }
                #expect(entry?.endpoint.state.rawValue == state && entry?.endpoint.generation == Int32(generation))
                #expect(action?.operation == "webhooks \(verb)" && action?.reason == "ticket 812")
            }
        }
    }

    @Test func `A form that is sent twice rotates the secret once`() async throws {
        try await Self.with(role: "operator") { console, cookie, path, token in
            let generation = try #require(try await console.get(path, cookie: cookie).field("generation"))
            let fields = ["token": token, "reason": "ticket 812", "generation": generation]
            #expect(try await console.post("\(path)/rotate", cookie: cookie, fields).status == 303)
            let again = try await console.post("\(path)/rotate", cookie: cookie, fields)
            #expect(again.status == 422 && again.text.contains("rotated meanwhile"), "\(again.text)")
            let entry = try await console.withOwner { try await WebhookEndpointStore($0).all() }.first
            #expect(entry?.endpoint.generation == 2)
        }
    }

    @Test func `A disabled endpoint is resumed, which tests it, and not tested alone`() async throws {
        try await Self.with(role: "operator") { console, cookie, path, token in
            try await console.withOwner { connection in
                _ = try await connection.execute(
                    Statement(unsafeSQL: "update webhook_endpoint set state = 'disabled'"))
            }
            let page = try await console.get(path, cookie: cookie)
            #expect(page.text.contains("Resume") && !page.text.contains("Send a test"))
            let fields = ["token": token, "reason": "ticket 812"]
            let answer = try await console.post("\(path)/test", cookie: cookie, fields)
            #expect(answer.status == 422 && answer.text.contains("is disabled and gets no test"), "\(answer.text)")
            #expect(try await console.post("\(path)/resume", cookie: cookie, fields).status == 303)
        }
    }

    @Test func `To give up what waits has to be confirmed, and empties the queue`() async throws {
        try await Self.with(role: "operator") { console, cookie, path, token in
            let fields = ["token": token, "reason": "ticket 812"]
            #expect(try await console.post("\(path)/pause", cookie: cookie, fields).status == 303)
            let giveUp = fields.merging(["fromNow": "yes"]) { $1 }
            let doubt = try await console.post("\(path)/resume", cookie: cookie, giveUp)
            #expect(doubt.status == 200 && doubt.text.contains("can be replayed"))
            #expect(doubt.field("unknown") == "yes" && doubt.field("fromNow") == "yes")
            #expect(try await Self.waiting(console) > 0)
            let done = try await console.post(
                "\(path)/resume", cookie: cookie, giveUp.merging(["unknown": "yes"]) { $1 })
            #expect(done.status == 303)
            #expect(try await Self.waiting(console) == 0)
        }
    }

    @Test func `A replay is counted, confirmed, and sends what was counted`() async throws {
        try await Self.with(role: "operator") { console, cookie, path, token in
            let fields = ["token": token, "reason": "ticket 812"]
            for bad in [
                [:], ["sequence": "1", "purchase": "2"], ["sequence": "x"], ["from": "x"], ["to": "2025-01-01"],
                ["from": "2999-01-01"], ["from": "2999-01-01", "to": "2999-01-02"],
                ["sequence": "1", "event": "EXPIRED"], ["event": "EXPIRED"],
            ] {
                let answer = try await console.post("\(path)/replay", cookie: cookie, fields.merging(bad) { $1 })
                #expect(answer.status == 422, "\(bad)")
            }
            let purchase = fields.merging(["purchase": SampleContents.purchase]) { $1 }
            let counted = try await console.post("\(path)/replay", cookie: cookie, purchase)
            #expect(counted.status == 200 && counted.text.contains("2 changes would be sent"))
            let done = try await console.post(
                "\(path)/replay", cookie: cookie, purchase.merging(["unknown": "yes"]) { $1 })
            #expect(done.status == 303, "\(done.text)")
            #expect(try await Self.replays(console) == 2)
            let time = fields.merging(["from": "2020-01-01"]) { $1 }
            let some = try await console.post(
                "\(path)/replay", cookie: cookie, time.merging(["event": "EXPIRED"]) { $1 })
            #expect(some.status == 200 && some.text.contains("1 change would be sent"))
            #expect(some.field("event") == "EXPIRED", "what is confirmed is what was counted")
            let planned = try await console.post("\(path)/replay", cookie: cookie, time)
            #expect(
                planned.status == 200 && planned.field("to")?.isEmpty == false,
                "the end of the time is that of the count")
            let all = try await console.post(
                "\(path)/replay", cookie: cookie,
                time.merging(["to": try #require(planned.field("to")), "unknown": "yes"]) { $1 })
            #expect(all.status == 303, "\(all.text)")
            let nothing = try await console.post(
                "\(path)/replay", cookie: cookie,
                fields.merging(["from": "2025-12-06T05:46:30Z", "to": "2025-12-06T05:46:40Z"]) { $1 })
            #expect(nothing.status == 409, "a moment is not its day")
            let impossible = try await console.post(
                "\(path)/replay", cookie: cookie, fields.merging(["from": "2025-02-31"]) { $1 })
            #expect(impossible.status == 422, "a day that is not on the calendar")
            let none = try await console.post(
                "\(path)/replay", cookie: cookie, fields.merging(["purchase": "none"]) { $1 })
            #expect(none.status == 409)
        }
    }

    @Test func `A fact that notifications do not have is a fault of its field`() async throws {
        try await Self.with(role: "operator") { console, cookie, path, token in
            try await console.withOwner { connection in
                _ = try await connection.execute(Statement(unsafeSQL: "update webhook_endpoint set kind = 'apple'"))
            }
            let answer = try await console.post(
                "\(path)/replay", cookie: cookie,
                ["token": token, "reason": "ticket 812", "from": "2020-01-01", "fact": "status"])
            #expect(answer.status == 422 && answer.text.contains(#"id="replay-fact-fault""#), "\(answer.text)")
        }
    }

    @Test func `Support sees deliveries and changes no endpoint`() async throws {
        try await Self.with(role: "support") { console, cookie, path, token in
            let page = try await console.get(path, cookie: cookie)
            #expect(page.status == 200 && !page.text.contains("Rotate the secret"))
            for verb in ["test", "pause", "rotate", "resume", "replay"] {
                let answer = try await console.post(
                    "\(path)/\(verb)", cookie: cookie, ["token": token, "reason": "because", "sequence": "1"])
                #expect(answer.status == 403, "\(verb)")
            }
        }
    }

    @Test func `A delivery shows when each attempt failed, how long it took and why`() async throws {
        try await Self.with(role: "support") { console, cookie, path, _ in
            #expect(try await !console.get(path, cookie: cookie).text.contains("failed</summary>"))
            let moment = Int(RunningConsole.now.timeIntervalSince1970)
            try await console.withOwner { connection in
                _ = try await connection.execute(
                    Statement(
                        unsafeSQL: """
                            with sent as (
                                update webhook_delivery
                                set state = 'delivered', attempts = 3, status = 204, milliseconds = 71,
                                    finished_at = to_timestamp(\(moment - 40))
                                where timeline_id = (
                                    select max(timeline_id) from webhook_delivery
                                    where original_transaction_id = '\(SampleContents.purchase)')
                                returning endpoint, timeline_id, day
                            )
                            insert into webhook_attempt (
                                endpoint, timeline_id, replay, attempted_at, day, milliseconds, status, fault, answer)
                            select endpoint, timeline_id, replay, to_timestamp(\(moment) - age), day, age, status,
                                fault, answer
                            from sent, (
                                values (0, 60, 503, 'answered 503', 'try <later>'), (0, 120, null, 'no answer', null),
                                    (7, 180, 500, 'answered 500', 'of a replay')
                            ) as failed (replay, age, status, fault, answer)
                            """))
            }
            let page = try await console.get(path, cookie: cookie).text
            #expect(page.contains("3<details><summary>2 failed</summary>"))
            #expect(page.contains("60 s ago</span>, 60 ms: answered 503 · try &lt;later&gt;</li>"))
            #expect(page.contains("2 min ago</span>, 120 ms: no answer</li>"))
            #expect(!page.contains("of a replay"), "an attempt of another delivery of the change")
            #expect(page.contains(#"<td>204</td><td class="number">71</td><td><time"#) && page.contains("40 s ago"))
            try await console.withOwner { connection in
                _ = try await connection.execute(
                    Statement(
                        unsafeSQL: """
                            insert into webhook_attempt (
                                endpoint, timeline_id, replay, attempted_at, day, milliseconds, status, fault, answer)
                            select endpoint, timeline_id, replay, attempted_at - age * interval '1 second', day,
                                milliseconds, status, fault, answer
                            from webhook_attempt, generate_series(1, 8) as age
                            where replay = 7
                            """))
            }
            let more = try await console.get(path, cookie: cookie).text
            #expect(more.contains("3<details><summary>the last 2 that failed</summary>"), "older ones are not read")
        }
    }

    @Test func `The list says how many changes each endpoint took within five minutes`() async throws {
        try await Self.with(role: "viewer") { console, cookie, _, _ in
            func delivered() async throws -> String? {
                try await console.get("/webhooks", cookie: cookie).text
                    .matches(of: #/<td class="number">([^<]*)</td>/#).last.map { String($0.output.1) }
            }
            #expect(try await delivered() == "0")
            for (age, seen) in [(299, "2"), (301, "0")] {
                let finished = Int(RunningConsole.now.timeIntervalSince1970) - age
                try await console.withOwner { connection in
                    _ = try await connection.execute(
                        Statement(
                            unsafeSQL: """
                                update webhook_delivery
                                set state = 'delivered', finished_at = to_timestamp(\(finished))
                                where original_transaction_id = '\(SampleContents.purchase)'
                                """))
                }
                #expect(try await delivered() == seen, "\(age) s")
            }
        }
    }

    private static func with(
        role: String, _ body: (RunningConsole, _ cookie: String, _ path: String, _ token: String) async throws -> Void
    ) async throws {
        try await RunningConsole.with { console in
            try await SampleContents.fill(console)
            let cookie = try await console.signedIn(role: role)
            let entry = try await console.withOwner { try await WebhookEndpointStore($0).all() }.first
            let id = try #require(entry).endpoint.id.uuidString.lowercased()
            let token = try #require(try await console.get("/", cookie: cookie).field("token"))
            try await body(console, cookie, "/webhooks/\(id)", token)
        }
    }

    private static func waiting(_ console: RunningConsole) async throws -> Int64 {
        try await console.withOwner { connection in
            try await connection.execute(Statement(unsafeSQL: "select count(*) as number from webhook_queue"))[0]
                .value("number")
        }
    }

    private static func replays(_ console: RunningConsole) async throws -> Int64 {
        try await console.withOwner { connection in
            try await connection.execute(
                Statement(unsafeSQL: "select count(*) as number from webhook_delivery where replay > 0"))[0]
                .value("number")
        }
    }
}
