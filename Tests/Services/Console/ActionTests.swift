import Contracts
import Foundation
import Records
import Storage
import Subscriptions
import Testing

@testable import Console

@Suite(.hangLimit) struct ActionTests {
    private static let account = "/accounts/Production/\(SampleContents.account)"

    @Test func `Support grants access for a week with a reason, which is in effect and in the audit log`() async throws
    {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(as: "sue", role: "support")
            let token = try #require(try await console.get(Self.account, cookie: cookie).field("token"))
            let fields = [
                "token": token, "app": SampleContents.app, "product": "pro.monthly", "days": "7",
                "reason": "outage of Friday",
            ]
            let form = try await console.get(Self.account, cookie: cookie).text
            #expect(form.contains(#"<option value="pro.monthly"></option>"#), "what the app has sold is offered")
            let dry = try await console.post(
                "\(Self.account)/grants", cookie: cookie, fields.merging(["step": "plan"]) { $1 })
            #expect(dry.status == 200 && dry.text.contains("may use pro.monthly from"))
            let unknown = try await console.post(
                "\(Self.account)/grants", cookie: cookie, fields.merging(["product": "pro.yearly"]) { $1 })
            #expect(unknown.status == 422 && unknown.text.contains("only pro.monthly"))
            let answer = try await console.post("\(Self.account)/grants", cookie: cookie, fields)
            #expect(answer.status == 303)
            let page = try await console.get(Self.account + "?done=grant", cookie: cookie)
            #expect(page.text.contains("Access granted."))
            #expect(page.text.contains("outage of Friday"))
            #expect(page.text.contains(">pro.monthly</th>"))
            let action = try await console.withOwner { try await OperatorActionStore($0).newest(1) }.first
            #expect(action?.actor == "sue")
            #expect(action?.operation == "customers grant")
            #expect(action?.reason == "outage of Friday")
        }
    }

    @Test func `A form that is sent twice grants access once`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let form = try await console.get(Self.account, cookie: cookie)
            let fields = [
                "token": try #require(form.field("token")), "id": try #require(form.field("id")),
                "app": SampleContents.app, "product": "pro.monthly", "days": "7", "reason": "outage of Friday",
            ]
            func grants() async throws -> Int {
                try await console.withOwner { connection in
                    try await CustomerRecords(connection).grants(
                        of: try #require(UUID(uuidString: SampleContents.account)), in: .production
                    ).count
                }
            }
            let before = try await grants()
            let rejected = try await console.post(
                "\(Self.account)/grants", cookie: cookie, fields.merging(["reason": ""]) { $1 })
            #expect(rejected.field("id") == fields["id"], "the form that is shown again is the same one")
            #expect(try await console.post("\(Self.account)/grants", cookie: cookie, fields).status == 303)
            let again = try await console.post("\(Self.account)/grants", cookie: cookie, fields)
            #expect(again.status == 409 && again.text.contains("was sent before"), "\(again.text)")
            #expect(try await grants() == before + 1)
            // Its page has a new form, with nothing in it that was sent.
            let new = try #require(again.field("id"))
            #expect(new != fields["id"] && !again.text.contains(#"value="outage of Friday""#))
            #expect(
                try await console.post("\(Self.account)/grants", cookie: cookie, fields.merging(["id": new]) { $1 })
                    .status == 303)
            #expect(try await grants() == before + 2)
        }
    }

    @Test func `A reason has at most 1000 characters, however many bytes one shown character has`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let token = try #require(try await console.get(Self.account, cookie: cookie).field("token"))
            let fields = ["token": token, "app": SampleContents.app, "product": "p", "days": "7", "unknown": "yes"]
            let before = try await DatabaseContents(console)
            for reason in [
                String(repeating: "a", count: 1001), "because" + String(repeating: "\u{301}", count: 994),
                String(repeating: "e" + String(repeating: "\u{301}", count: 18), count: 500),
            ] {
                let answer = try await console.post(
                    "\(Self.account)/grants", cookie: cookie, fields.merging(["reason": reason]) { $1 })
                #expect(answer.status == 422 && answer.text.contains("too long"))
            }
            #expect(try await DatabaseContents(console).text == before.text)
            let most = String(repeating: "\u{1F600}", count: 1000)
            #expect(
                try await console.post(
                    "\(Self.account)/grants", cookie: cookie, fields.merging(["reason": most]) { $1 }
                ).status == 303)
        }
    }

    @Test func `Console shows a rejected form again, with what was entered and the fault at its field`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "operator")
            let token = try #require(try await console.get(Self.account, cookie: cookie).field("token"))
            let fields = [
                "token": token, "app": SampleContents.app, "product": "pro.yearly", "days": "40",
                "reason": "outage of Friday",
            ]
            let before = try await DatabaseContents(console)
            func rejected(_ change: [String: String]) async throws -> String {
                let answer = try await console.post(
                    "\(Self.account)/grants", cookie: cookie, fields.merging(change) { $1 })
                #expect(answer.status == 422, "\(change)")
                #expect(answer.text.contains(#"<p class="problem" role="alert">Nothing was "#), "\(change)")
                #expect(
                    answer.text.components(separatedBy: "aria-invalid").count == 2, "one field is at fault: \(change)")
                return answer.text
            }
            let unknown = try await rejected([:])
            #expect(unknown.contains(#"id="grant-product-0-fault""#) && unknown.contains("only pro.monthly"))
            #expect(unknown.contains(#"value="40""#) && unknown.contains(#"value="outage of Friday""#))
            #expect(unknown.components(separatedBy: #"value="pro.yearly""#).count == 2, "of the form of this app alone")
            #expect(!unknown.contains(#"value="yes" checked"#))
            let silent = try await rejected(["reason": " ", "unknown": "yes"])
            #expect(silent.contains(#"id="grant-0-reason-fault""#) && silent.contains(#"value="yes" checked"#))
            let long = try await rejected(["days": "0", "unknown": "yes"])
            #expect(long.contains(#"aria-describedby="grant-days-0-fault grant-days-0-hint""#))
            #expect(long.contains("0 days are out of range"))
            // Below the page of a purchase, and with the form that the address of the page chooses.
            let purchase = "/purchases/Production/\(SampleContents.purchase)"
            let refresh = try await console.post("\(purchase)/refresh", cookie: cookie, ["token": token, "reason": ""])
            #expect(refresh.status == 422 && refresh.text.contains(#"id="refresh-reason-fault""#))
            let days = [
                "token": token, "app": "", "environment": "", "from": "2025-11-20", "to": "2025-11-21", "reason": "",
            ]
            let recover = try await console.post("/coverage/recover", cookie: cookie, days)
            #expect(recover.status == 422 && recover.text.contains(#"id="recover-reason-fault""#))
            // A page that cannot be shown with it: the fault alone.
            let wrong = try await console.post(
                "/coverage/recover", cookie: cookie, days.merging(["to": "no day"]) { $1 })
            #expect(wrong.status == 422 && wrong.text.contains("no two days in order"))
            #expect(try await DatabaseContents(console).text == before.text)
            #expect(console.templates.missing.all == [])
        }
    }

    @Test func `Console revokes a grant once`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let token = try #require(try await console.get(Self.account, cookie: cookie).field("token"))
            _ = try await console.post(
                "\(Self.account)/grants", cookie: cookie,
                [
                    "token": token, "app": SampleContents.app, "product": "p", "days": "7", "reason": "because",
                    "unknown": "yes",
                ])
            let page = try await console.get(Self.account, cookie: cookie)
            let path = try #require(page.text.firstMatch(of: /action="([^"]*revoke)"/)).output.1
            let fields = ["token": token, "reason": "given by mistake"]
            // Under the address of another account, and of another environment.
            let before = try await DatabaseContents(console)
            for address in [
                path.replacing(SampleContents.account, with: UUID().uuidString.lowercased()),
                path.replacing("Production", with: "Sandbox"),
            ] {
                #expect(address != path)
                #expect(try await console.post(String(address), cookie: cookie, fields).status == 404)
            }
            #expect(try await DatabaseContents(console).text == before.text)
            #expect(try await console.post(String(path), cookie: cookie, fields).status == 303)
            #expect(try await console.post(String(path), cookie: cookie, fields).status == 409)
        }
    }

    @Test func `Console rejects an action without a reason, a token or the same origin`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "admin")
            let other = try await console.signedIn(as: "bob", role: "admin")
            let token = try #require(try await console.get(Self.account, cookie: cookie).field("token"))
            let foreign = try #require(try await console.get(Self.account, cookie: other).field("token"))
            let fields = [
                "app": SampleContents.app, "product": "p", "days": "7", "reason": "because", "unknown": "yes",
            ]
            let path = "\(Self.account)/grants"
            let before = try await DatabaseContents(console)
            #expect(try await console.post(path, cookie: cookie, fields).status == 403)
            #expect(
                try await console.post(path, cookie: cookie, fields.merging(["token": foreign]) { $1 }).status == 403)
            #expect(
                try await console.post(
                    path, cookie: cookie, fields.merging(["token": token, "reason": " "]) { $1 }
                ).status == 422)
            let body = RunningConsole.form(fields.merging(["token": token]) { $1 })
            for headers in [
                ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"], ["Sec-Fetch-Site": "none"], [:],
                ["Origin": "https://evil.example"],
            ] {
                #expect(
                    try await console.send("POST", path, cookie: cookie, headers: headers, body: body).status == 403)
            }
            #expect(try await console.post(path, cookie: nil, fields.merging(["token": token]) { $1 }).status == 401)
            #expect(try await console.send("PUT", path, cookie: cookie, body: body).status == 405)
            #expect(try await DatabaseContents(console).text == before.text)
            // An old browser tells its origin instead.
            #expect(
                try await console.send(
                    "POST", path, cookie: cookie, headers: ["Origin": RunningConsole.origin], body: body
                ).status == 303)
        }
    }

    @Test func `Console dismisses the list that a dry run froze, and nothing that came later`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(as: "olga", role: "operator")
            let list = "/dead-letters/list?reason=app-unknown"
            let token = try #require(try await console.get(list, cookie: cookie).field("token"))
            let frozen = try await console.post(
                "/dead-letters/selections", cookie: cookie, ["token": token, "reason": "app-unknown"])
            let path = try #require(frozen.header("location"))
            #expect(try await console.get(path, cookie: cookie).text.contains("3 dead letters would be sent"))
            try await console.withOwner { connection in
                _ = try await RejectedStore(connection).record([
                    RejectedRow(
                        cluster: "c1", position: LogPosition(topic: Topics.rejected.name, partition: 1, offset: 99),
                        stage: "verifier", reason: "app-unknown", message: "later", rejectedAt: RunningConsole.now)
                ])
            }
            let answer = try await console.post(
                "\(path)/dismiss", cookie: cookie, ["token": token, "reason": "not ours"])
            #expect(answer.status == 303)
            #expect(
                try await console.post("\(path)/dismiss", cookie: cookie, ["token": token, "reason": "not ours"]).status
                    == 409)
            let open = try await console.withOwner { connection in
                try await DeadLetterGroups(connection).deadLetters(
                    DeadLetterGroups.Criteria(reason: "app-unknown"), limit: 10
                ).deadLetters
            }
            #expect(open.filter { $0.settledBy == nil }.map(\.id) == ["1/99"])
            #expect(open.filter { $0.settledBy == "dead-letters dismiss" }.count == 3)
        }
    }

    @Test func `Dead letters show the release with which a reason began`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "viewer")
            let page = try await console.get("/dead-letters?reason=app-unknown", cookie: cookie)
            #expect(page.text.contains("was rejected by release 0.0.9"))
        }
    }

    @Test func `Console plans the recovery of a day, and opens its window with a reason`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "operator")
            let coverage = try await console.get("/coverage", cookie: cookie)
            let link = try #require(coverage.text.firstMatch(of: /href="(\/coverage\/recover\?[^"]*)"/)).output.1
            let plan = try await console.get(String(link).replacing("&amp;", with: "&"), cookie: cookie)
            #expect(plan.text.contains("These windows would be opened"))
            let fields = ["token", "app", "environment", "from", "to"].reduce(into: ["reason": "auditor asks"]) {
                $0[$1] = plan.field($1)
            }
            #expect(try await console.post("/coverage/recover", cookie: cookie, fields).status == 303)
            var filter = RecoveryWindowStore.Filter()
            filter.reasons = [.manual]
            let windows = try await console.withOwner { [filter] in
                try await RecoveryWindowStore($0).windows(filter)
            }
            #expect(windows.map(\.scope.bundleId) == [SampleContents.app])
            #expect(
                try await console.withOwner { try await OperatorActionStore($0).newest(1) }.first?.reason
                    == "auditor asks")
        }
    }

    @Test func `Console asks recovery for the customer's history on a refresh`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let path = "/purchases/Production/\(SampleContents.purchase)"
            let token = try #require(try await console.get(path, cookie: cookie).field("token"))
            let answer = try await console.post(
                "\(path)/refresh", cookie: cookie, ["token": token, "reason": "customer says he paid"])
            #expect(answer.status == 303)
            let requests = try await console.withOwner { connection in
                try await OutboxStore(connection).requests(noticedBefore: RunningConsole.now.addingTimeInterval(60))
            }
            #expect(requests.contains { $0.message.originalTransactionId == SampleContents.purchase })
        }
    }

    @Test
    func `An extension is refused with a reason where days, Apple's reason or the key of Apple's API are missing`()
        async throws
    {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "support")
            let path = "/purchases/Production/\(SampleContents.purchase)"
            let page = try await console.get(path, cookie: cookie)
            #expect(!page.text.contains("Extend the subscription"), "there is no key of Apple's API")
            let token = try #require(page.field("token"))
            let good = ["token": token, "days": "7", "code": "outage", "reason": "outage of Friday"]
            for (change, words) in [
                (["days": "91"], "1 to 90"), (["days": ""], "1 to 90"), (["code": "kindness"], "satisfaction"),
                (["reason": ""], "reason is missing"), ([:], "no key of Apple&#39;s API"),
            ] {
                let answer = try await console.post(path + "/extend", cookie: cookie, good.merging(change) { $1 })
                #expect([409, 422].contains(answer.status))
                #expect(answer.text.contains("Nothing was done"))
                #expect(answer.text.contains(words), "\(answer.text)")
            }
            let actions = try await console.withOwner { try await OperatorActionStore($0).newest(10) }
            #expect(!actions.contains { $0.operation.hasPrefix("extend") })
        }
    }

    @Test(arguments: [
        ("viewer", "/purchases/Production/1/refresh"), ("viewer", "/purchases/Production/1/extend"),
        ("viewer", "\(account)/grants"),
        ("support", "/dead-letters/selections"), ("support", "/coverage/recover"), ("support", "\(account)/choose"),
    ])
    func `A role may not do what the next one may`(role: String, path: String) async throws {
        try await RunningConsole.with { console in
            let cookie = try await console.signedIn(role: role)
            let token = try await console.get("/", cookie: cookie).field("token") ?? ""
            let answer = try await console.post(path, cookie: cookie, ["token": token, "reason": "because"])
            #expect(answer.status == 403)
            #expect(answer.text.contains("role \(role) may not"))
        }
    }
}
