import ArgumentParser
import Commands
import Testing

@testable import Storekeeper

struct ExitTests {
    @Test(arguments: [
        (["acls"], [:], Exit.done),
        (["healthcheck", "http://127.0.0.1:1/livez"], [:], .failed),
        (
            ["status"], ["DATABASE_URL": "postgres://127.0.0.1:1/none", "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1"],
            .attention
        ),
        (["nonsense"], [:], .usage),
        (["audit", "--schema", "a;b"], Self.nowhere, .usage),
        (["audit", "--database-url", "nonsense"], Self.nowhere, .usage),
        (["coverage", "--from", "yesterday"], [:], .usage),
        (["coverage", "--from", "1h", "--to", "2h"], Self.nowhere, .usage),
        (["coverage", "--to", "40d"], Self.nowhere, .usage),
        (["events", "list", "--from", "1h", "--to", "2h"], Self.nowhere, .usage),
        (["dead-letters", "list", "--from", "1h", "--to", "2h"], Self.nowhere, .usage),
        (["dead-letters", "replay", "--all", "--from", "1h", "--to", "2h"], Self.nowhere, .usage),
        (["recover", "--from", "1h", "--to", "2h"], Self.nowhere, .usage),
        (["recover", "--from", "2099-01-01", "--to", "2099-02-01"], Self.nowhere, .usage),
        (["retention", "--ledger-days", "100"], Self.nowhere, .usage),
        (["offsets"], [:], .done),
        (["lookup", "order", "X", "--environment", "Sandbox"], Self.nowhere, .usage),
        (["recover", "--from", "1h", "--environment", "Xcode"], Self.nowhere, .usage),
        (["customers", "choose", "--app", "a", "00000000-0000-0000-0000-000000000001"], Self.nowhere, .usage),
        (["healthcheck", "foo"], [:], .usage),
        (["healthcheck", "ftp://host/"], [:], .usage),
        (["healthcheck", "http://127.0.0.1:65536/livez"], [:], .usage),
        (["doctor", "--url", "https://127.0.0.1:65536/v1/notifications"], [:], .usage),
        (
            ["webhooks", "listen", "--api", "http://127.0.0.1:65536", "--key-file", "k", "--forward", "http://a"], [:],
            .usage
        ),
        (
            ["webhooks", "listen", "--api", "http://a", "--key-file", "k", "--forward", "http://127.0.0.1:65536"], [:],
            .usage
        ),
        (["extend", "product", "gold", "--days", "3", "--reason", "outage"], [:], .usage),
        (["extend", "1", "--days", "91", "--reason", "outage"], [:], .usage),
        (["coverage"], [:], .configuration),
    ])
    func `Exit codes of the table are those that commands end with`(
        arguments: [String], environment: [String: String], exit: Exit
    ) async {
        let outcome = await CommandOutcome.of(arguments, environment: environment)
        #expect(outcome.code == exit.rawValue, "\(outcome.errorOutput)")
    }

    /// Valid addresses without a server.
    private static let nowhere = [
        "DATABASE_URL": "postgres://127.0.0.1:1/none", "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1",
    ]

    @Test(arguments: ["nonsense", "http://foo", "me:hush@host/name"])
    func `Database URL that is malformed is rejected before any query, without showing the password`(
        address: String
    ) async {
        let outcome = await CommandOutcome.of(["audit"], environment: ["DATABASE_URL": address])
        #expect(outcome.code == Exit.configuration.rawValue, "\(outcome.errorOutput)")
        #expect(outcome.errorOutput.contains("which is not postgres://user@host:port/name"), "\(outcome.errorOutput)")
        #expect(!outcome.errorOutput.contains("hush"))
    }

    @Test func `Schema that is no identifier is rejected before any query`() async {
        let outcome = await CommandOutcome.of(
            ["audit"], environment: Self.nowhere.merging(["STOREKEEPER_DATABASE_SCHEMA": "a;b"]) { $1 })
        #expect(outcome.code == Exit.configuration.rawValue, "\(outcome.errorOutput)")
    }

    @Test func `Interruption has the code that shells give it`() {
        #expect(Exit.code(for: Interrupted()) == Exit.interrupted.rawValue)
    }

    @Test func `Help promises no exit code that the table lacks`() throws {
        let known = Set(Exit.allCases.map { "\($0.rawValue)" })
        var checked = 0
        for command in CommandLineTool.allCommands {
            // On lines as long as they like, so that no sentence is broken.
            let help = CommandLineTool.helpMessage(for: command, columns: 10_000)
            for sentence in help.matches(of: #/Exit codes: (.*)/#) {
                let codes = sentence.1.split(separator: ";").flatMap { part in
                    part.matches(of: #/(?:^|, )\s*(\d+) /#).map { String($0.1) }
                }
                #expect(Set(codes).isSubset(of: known), "\(command.configuration.commandName ?? ""): \(codes)")
                checked += codes.count
            }
            for sentence in help.matches(of: #/Exits (\d+) /#) { #expect(known.contains(String(sentence.1))) }
        }
        #expect(checked > 20)
    }
}
