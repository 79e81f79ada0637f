import Contracts
import Foundation
import Postgres
import Storage
import Testing

@testable import Console

@Suite(.hangLimit) struct ErasureTests {
    private static let account = "/accounts/Production/\(SampleContents.account)"
    private static let plan = "\(account)/erasure?app=\(SampleContents.app)"

    private static func fields(_ console: RunningConsole, _ cookie: String, _ extent: String) async throws -> [String:
        String]
    {
        let token = try #require(try await console.get(plan, cookie: cookie).field("token"))
        return ["token": token, "extent": extent, "app": SampleContents.app, "reason": "ticket 812"]
    }

    @Test func `Console shows an admin what an erasure would delete, and changes nothing by showing it`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "admin")
            let before = try await DatabaseContents(console).text
            let page = try await console.get(Self.account, cookie: cookie)
            #expect(page.text.contains("Erase or detach the customer of \(SampleContents.app)"))
            let plan = try await console.get(Self.plan, cookie: cookie)
            #expect(plan.status == 200 && plan.text.contains("What would be forgotten"))
            #expect(plan.text.contains("Erase for good") && plan.text.contains("Detach for good"))
            #expect(plan.text.contains("storekeeper customers erase \(SampleContents.account) --app com.example.app"))
            #expect(plan.text.contains("--dry-run"))
            #expect(try await DatabaseContents(console).text == before)
        }
    }

    @Test func `Console erases with a reason only, shows the certificate, and names nothing else in the audit log`()
        async throws
    {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(as: "ada", role: "admin")
            let path = "\(Self.account)/erasure"
            let fields = try await Self.fields(console, cookie, "erase")
            for change in [["reason": ""], ["extent": "all"], ["app": ""]] {
                let answer = try await console.post(path, cookie: cookie, fields.merging(change) { $1 })
                #expect(answer.status == 422)
            }
            #expect(try await console.get(Self.account, cookie: cookie).text.contains(SampleContents.purchase))
            let answer = try await console.post(path, cookie: cookie, fields)
            let certificate = try #require(answer.header("location"))
            let page = try await console.get(certificate, cookie: cookie)
            #expect(page.text.contains("The customer is erased."))
            #expect(!page.text.contains(SampleContents.account))
            let owned = Statement(
                unsafeSQL: "select from subscription where owner_account_token = $1::uuid and bundle_id = $2::text")
            let account = try #require(UUID(uuidString: SampleContents.account))
            #expect(
                try await console.withOwner { try await $0.execute(owned, account, SampleContents.app).affected } == 0)
            #expect(!(try await console.get(Self.account, cookie: cookie).text.contains(SampleContents.purchase)))
            let action = try await console.withOwner { try await OperatorActionStore($0).newest(1) }.first
            #expect(action?.actor == "ada" && action?.operation == "customers erase" && action?.reason == "ticket 812")
            #expect(action?.subject.contains(certificate.split(separator: "/").last ?? "none") == true)
            // Once more: the same certificate, and the page says so.
            #expect(try await console.post(path, cookie: cookie, fields).header("location") == certificate)
            let plan = try await console.get(Self.plan, cookie: cookie)
            #expect(plan.text.contains("This account is erased.") && plan.text.contains(certificate))
            #expect(!plan.text.contains("Erase for good"))
            // Nothing is given to it again.
            let grant = try await console.post(
                "\(Self.account)/grants", cookie: cookie,
                fields.merging(["product": "pro", "days": "7", "unknown": "yes"]) { $1 })
            #expect(grant.status == 409 && grant.text.contains("was erased"))
        }
    }

    @Test func `Console erases no account of which nothing is known`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "admin")
            let fields = try await Self.fields(console, cookie, "erase")
            let stranger = "/accounts/Production/\(UUID().uuidString.lowercased())/erasure"
            let sandbox = "/accounts/Sandbox/\(SampleContents.account)/erasure"
            let before = try await DatabaseContents(console).text
            for path in [stranger, sandbox] {
                let plan = try await console.get("\(path)?app=\(SampleContents.app)", cookie: cookie)
                #expect(plan.text.contains("Nothing is known of this account") && !plan.text.contains("for good"))
                #expect(try await console.post(path, cookie: cookie, fields).status == 404)
            }
            #expect(try await DatabaseContents(console).text == before)
        }
    }

    @Test func `Console detaches a customer, keeps what Apple signed, and may erase later`() async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: "admin")
            let path = "\(Self.account)/erasure"
            let payloads = Statement(unsafeSQL: "select from notification_payload")
            let before = try await console.withOwner { try await $0.execute(payloads).affected }
            let detached = try await console.post(
                path, cookie: cookie, try await Self.fields(console, cookie, "detach"))
            let certificate = try #require(detached.header("location"))
            #expect(try await console.get(certificate, cookie: cookie).text.contains("The customer is detached."))
            #expect(try await console.withOwner { try await $0.execute(payloads).affected } == before)
            let erased = try await console.post(path, cookie: cookie, try await Self.fields(console, cookie, "erase"))
            #expect(erased.header("location") == certificate)
            #expect(try await console.withOwner { try await $0.execute(payloads).affected } < before)
        }
    }

    @Test(arguments: ["viewer", "support", "operator"])
    func `Only an admin erases`(role: String) async throws {
        try await SampleContents.with { console in
            let cookie = try await console.signedIn(role: role)
            #expect(try await console.get(Self.plan, cookie: cookie).status == 403)
            #expect(try await console.get("/erasures/\(UUID().uuidString)", cookie: cookie).status == 403)
            let token = try await console.get("/", cookie: cookie).field("token") ?? ""
            let fields = ["token": token, "extent": "erase", "app": SampleContents.app, "reason": "because"]
            #expect(try await console.post("\(Self.account)/erasure", cookie: cookie, fields).status == 403)
            if role != "viewer" {
                #expect(!(try await console.get(Self.account, cookie: cookie).text.contains("Erase or detach")))
            }
        }
    }
}
