import Commands
import Foundation
import Operations
import Testing

@testable import Devkit

extension EndToEnd {
    struct CommandLineTests {
        /// Every service, with the variables of what it depends on.
        static let services: [(name: String, variables: [String])] =
            [("setup", ["KAFKA_BOOTSTRAP_SERVERS", "DATABASE_URL"])]
            + ServiceKind.allCases.map { kind in
                (kind.rawValue, ["KAFKA_BOOTSTRAP_SERVERS"] + (kind.databaseRole == nil ? [] : ["DATABASE_URL"]))
            }
        private static let common = ["STOREKEEPER_LOG_LEVEL", "STOREKEEPER_LOG_FORMAT", "STOREKEEPER_ADMIN_ADDRESS"]

        @Test(arguments: services) func `Help of each service lists the variables of its dependencies and those of all`(
            name: String, variables: [String]
        ) async throws {
            let outcome = try await Self.run(name, ["--help"])
            #expect(outcome.ending == .exit(0))
            for word in variables + Self.common + ["Example: ", "Exit codes: "] {
                #expect(outcome.text.contains(word), "\(word)")
            }
        }

        @Test(arguments: services)
        func `Configuration with mistakes ends with exit 78 and all of them`(
            name: String, variables: [String]
        ) async throws {
            let wrong = ["STOREKEEPER_LOG_LEVEL": "loud", "STOREKEEPER_LOG_FROMAT": "json"]
            let outcome = try await Self.run(name, [], environment: wrong)
            #expect(outcome.ending == .exit(78))
            for named in ["KAFKA_BOOTSTRAP_SERVERS is not set", "\"loud\"", "STOREKEEPER_LOG_FROMAT"] {
                #expect(outcome.text.contains(named), "\(named) in \(outcome.text)")
            }
        }

        @Test(arguments: ["nonsense", "http://me:hush@host/name"])
        func `Database URL that is malformed is rejected without showing the password`(address: String) async throws {
            let outcome = try await Self.run(
                "deduplicator", ["--config"],
                environment: ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:1", "DATABASE_URL": address])
            #expect(outcome.ending == .exit(78))
            #expect(outcome.text.contains("which is not postgres://user@host:port/name"), "\(outcome.text)")
            #expect(!outcome.text.contains("hush"), "\(outcome.text)")
        }

        @Test(arguments: services.map(\.name)) func `Unknown argument ends with exit 64`(name: String) async throws {
            #expect(try await Self.run(name, ["--nonsense"]).ending == .exit(64))
        }

        @Test(arguments: services.map(\.name) + ["storekeeper"])
        func `Every program prints its release`(name: String) async throws {
            let outcome = try await Self.run(name, ["--version"])
            #expect(outcome.ending == .exit(0))
            #expect(outcome.text.wholeMatch(of: /\S+ \d+\.\d+\.\d+(\+\S+)?\n/) != nil)
            #expect(outcome.text.hasPrefix("\(name) "))
        }

        @Test func `storekeeper lists its subcommands and rejects others`() async throws {
            let help = try await Self.run("storekeeper", ["--help"])
            #expect(help.ending == .exit(0))
            for verb in ["status", "recover", "doctor", "dev"] {
                #expect(help.text.contains("  \(verb) "))
            }
            #expect(try await Self.run("storekeeper", ["nonsense"]).ending == .exit(64))
            let misspelt = try await Self.run("storekeeper", ["statsu"])
            #expect(misspelt.ending == .exit(64) && misspelt.text.contains("Did you mean 'storekeeper status'?"))
            let program = try await Self.run("storekeeper", ["status", "--json"])
            #expect(program.text.contains(#"{"error":{"exitCode":78,"message":""#), "\(program.text)")
            #expect(try await Self.run("storekeeper", ["dev", "--duplicates", "2"]).ending == .exit(64))
        }

        @Test func `A report as JSON that ends with its exit code is followed by no error`() async throws {
            let rejected = try await Self.run("storekeeper", ["verify", "--json", "a.b.c"])
            #expect(rejected.ending == .exit(1))
            #expect(rejected.text.contains(#""reason": "malformed""#), "\(rejected.text)")
            #expect(!rejected.text.contains(#"{"error""#), "\(rejected.text)")
        }

        @Test(arguments: [
            ("storekeeper", ["dev", "--help"]), ("devkit", ["dev", "--help"]), ("devkit", ["help", "dev"]),
        ])
        func `Help of dev explains its options and exit codes`(program: String, arguments: [String]) async throws {
            let help = try await Self.run(program, arguments)
            #expect(help.ending == .exit(0))
            for word in ["--count", "--verifiers", "Exit codes"] { #expect(help.text.contains(word), "\(word)") }
        }

        @Test(arguments: ["bash", "zsh", "fish"])
        func `Shell completion knows every subcommand and option`(shell: String) async throws {
            let script = try await Self.run("storekeeper", ["--generate-completion-script", shell])
            #expect(script.ending == .exit(0))
            for word in [
                "test-notification", "dead-letters", "dismiss", "dry-run", "database-url", "extend", "product",
            ] {
                #expect(script.text.contains(word), "\(word)")
            }
            guard shell == "bash" else { return }
            let place = try Place()
            let file = place.directory + "/completion"
            try Data(script.text.utf8).write(to: URL(fileURLWithPath: file))
            let completing = """
                source '\(file)' && COMP_WORDS=(storekeeper dea) COMP_CWORD=1 COMP_LINE='storekeeper dea' COMP_POINT=15
                COMP_TYPE=9 COMP_KEY=9
                _storekeeper storekeeper dea storekeeper && printf '%s\\n' "${COMPREPLY[@]}"
                """
            let bash = try await Spawner().start(
                "bash", program: "/bin/bash", arguments: ["-c", completing], environment: ["PATH": "/usr/bin:/bin"],
                log: place.directory + "/bash")
            #expect(await bash.ending() == .exit(0), "\(bash.logTail())")
            #expect(bash.logTail().contains("dead-letters"), "\(bash.logTail())")
        }

        @Test func `storekeeper without a subcommand shows its help`() async throws {
            let help = try await Self.run("storekeeper", [])
            #expect(help.text.contains("SUBCOMMANDS"))
        }

        @Test func `verify accepts what the simulator signs, and says why it rejects what it forges`()
            async throws
        {
            let directory = try Place()
            let authority = directory.directory + "/authority"
            let simulator = ["make", "--authority", authority, "--case"]
            let genuine = try await Self.run("simulator", simulator + ["renewed"]).text
            let forged = try await Self.run("simulator", simulator + ["tampered"]).text
            let file = directory.directory + "/body"
            try Data(genuine.utf8).write(to: URL(fileURLWithPath: file))
            let root = ["--root", authority + "/root.pem"]
            let proven = try await Self.run("storekeeper", ["verify", file, "--bundle-id", "com.example.app"] + root)
            #expect(proven.ending == .exit(0))
            #expect(proven.text.contains("VERIFIED") && proven.text.contains("DID_RENEW"))
            #expect(try await Self.run("storekeeper", ["verify", file]).ending == .exit(1))
            let configured = try await Self.run(
                "storekeeper", ["verify", file],
                environment: ["STOREKEEPER_ROOT_FILES": "\(authority)/root.pem, \(authority)/root.pem"])
            #expect(configured.ending == .exit(0) && configured.text.contains("VERIFIED"))
            try Data(forged.utf8).write(to: URL(fileURLWithPath: file))
            let rejected = try await Self.run("storekeeper", ["verify", file] + root)
            #expect(rejected.ending == .exit(1))
            #expect(rejected.text.contains("REJECTED (signature)"))
            for wrong in [["/no/such/file"], [file, "--environment", "production"], [file, "--root", file]] {
                #expect(try await Self.run("storekeeper", ["verify"] + wrong).ending == .exit(64))
            }
        }

        @Test func `Health check without a server fails and says so`() async throws {
            // No service listens on port 1.
            let outcome = try await Self.run("storekeeper", ["healthcheck", "http://127.0.0.1:1/readyz"])
            #expect(outcome.ending == .exit(1))
            #expect(outcome.text.contains("does not answer"))
        }

        /// Of an output without a buffer nothing is left to be written at the end.
        @Test(
            .enabled(if: ["/dev/full", "/usr/bin/stdbuf"].allSatisfy { FileManager.default.fileExists(atPath: $0) }),
            arguments: ["exec", "exec /usr/bin/stdbuf -o0"])
        func `Output that a full disk does not take fails the command`(start: String) async throws {
            let place = try Place()
            let log = place.directory + "/output"
            let child = try await Spawner().start(
                "storekeeper", program: "/bin/sh",
                arguments: ["-c", "\(start) \"$0\" config > /dev/full", try EndToEnd.binaries.path(of: "storekeeper")],
                environment: [:], log: log)
            #expect(await child.ending() == .exit(1))
            #expect(try String(contentsOfFile: log, encoding: .utf8).contains(" be written"))
        }

        private static func run(
            _ program: String, _ arguments: [String], environment: [String: String] = [:]
        ) async throws -> (ending: ChildProcess.Ending, text: String) {
            let place = try Place()
            let log = place.directory + "/output"
            let child = try await Spawner().start(
                program, program: try EndToEnd.binaries.path(of: program), arguments: arguments,
                environment: environment, log: log)
            let ending = await child.ending()
            return (ending, try String(contentsOfFile: log, encoding: .utf8))
        }
    }
}
