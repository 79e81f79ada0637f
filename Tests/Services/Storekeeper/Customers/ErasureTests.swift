import Foundation
import Storage
import TestSupport
import Testing

@testable import Storekeeper

/// Customers forgotten on the command line.
@Suite(.serialized) struct ErasureTests {
    struct Page: Decodable {
        var certificateId: String
        var extent: String
        var topicsUntil: String
    }

    private static let place = ["--app", "com.example.app", "--environment", "Sandbox"]

    @Test func `customers detach and erase print a certificate, and the audit log names the certificate alone`()
        async throws
    {
        try await TestDatabase.use { database in
            func run(_ arguments: String...) async -> CommandOutcome {
                await database.run(["customers"] + arguments + Self.place)
            }
            let token = await run("add", "user-1").text
            #expect(UUID(uuidString: token) != nil)
            #expect(await run("grant", "user-1", "pro", "--reason", "r", "--confirm-unknown").code == 0)
            let plan = await run("erase", "user-1", "--dry-run", "--json")
            #expect(plan.code == 0 && plan.text.contains(token) && plan.text.contains(#""grants" : 1"#), "\(plan.text)")
            #expect(await run("detach", "user-1", "--dry-run").text.contains("1 would be deleted"))
            #expect(await run("erase", "user-2", "--dry-run").code == 1)
            for verb in ["erase", "detach"] {
                let stranger = await run(verb, UUID().uuidString)
                #expect(stranger.code == 1 && stranger.errorOutput.contains("is known in Sandbox"))
            }
            #expect(await run("show", "user-1").text.contains(token), "a dry run changes nothing")
            let detached = await run("detach", "user-1")
            #expect(detached.code == 0 && detached.text.contains("detach"), "\(detached.errorOutput)")
            #expect(await run("show", "user-1").code == 1)
            #expect(await run("erase", "user-1").code == 1)
            let erased: Page = try await run("erase", token.uppercased(), "--note", "ticket 812", "--json").json()
            #expect(erased.extent == "erase" && detached.text.contains(erased.certificateId))
            #expect(
                erased.topicsUntil.hasPrefix(
                    CommandOutcome.now.addingTimeInterval(38 * 86_400).formatted(.iso8601.year().month().day())))
            let audit = await database.run(["audit", "--json"])
            #expect(audit.text.contains(erased.certificateId) && audit.text.contains("ticket 812"))
            #expect(!audit.text.contains(token) && !audit.text.contains("user-1"))
            let back = await run("add", "user-1", "--token", token)
            #expect(back.code != 0 && back.errorOutput.contains("was erased"), "\(back.errorOutput)")
            #expect(await run("add", "user-1").code == 0)
        }
    }
}
