import Contracts
import Foundation
import Kafka
import TestSupport
import Testing

@testable import Devkit
@testable import Operations

extension EndToEnd {
    struct StopTests {
        @Test func `Every process ends with exit 0 when it is asked to`() async throws {
            try await EndToEnd.withPipeline { services in
                for kind in ServiceKind.allCases.reversed() {
                    let ending = try await services.processes.stop(kind.rawValue)
                    #expect(ending == .exit(0), "\(kind)")
                }
            }
        }

        @Test(arguments: [SIGINT, SIGTERM, SIGHUP, SIGKILL])
        func `storekeeper dev leaves no process behind when it is ended`(signal: Int32) async throws {
            let place = try Place()
            let dev = try await place.start(["dev", "--rate", "20"])
            try await place.waits(for: "stored [1-9]", in: dev.log)
            let children = Descendants.of(dev.identifier)
            #expect(children.count >= 6, "the services, the simulator and the database")
            dev.send(signal)
            let ending = await dev.ending()
            #expect(ending == (signal == SIGKILL ? .signal(SIGKILL) : .exit(0)), "\(dev.logTail())")
            for child in children { try await place.waits(forEndOf: child) }
            // Only the owner of the directory could have removed it after a SIGKILL; it had no time to.
            if signal != SIGKILL { #expect(try place.leftovers() == []) }
        }

        @Test func `Development broker alone says where it is and ends when it is asked to`() async throws {
            let place = try Place()
            let broker = try await place.start(["broker"], of: "devkit")
            try await place.waits(for: "^127.0.0.1:[0-9]*$", in: broker.log)
            let address = broker.logTail()
            let admin = try KafkaAdmin(KafkaConfiguration(bootstrapServers: address), logger: .silent)
            let topics = try await admin.topics()
            #expect(Topics.all.allSatisfy { topics[$0.name] == $0.partitions })
            broker.send(SIGTERM)
            #expect(await broker.ending() == .exit(0))
        }

        @Test func `Counted run prints its verdict and exits 0`() async throws {
            let place = try Place()
            let dev = try await place.start(["dev", "--count", "120", "--seed", "5", "--json"])
            #expect(await dev.ending() == .exit(0), "\(dev.logTail(lines: 40))")
            let report = try JSONDecoder().decode(
                RunReport.self, from: Data(contentsOf: URL(fileURLWithPath: dev.log)))
            #expect(report.isClean)
            #expect(report.findings.sent == 120 && report.seed == 5)
            #expect(try place.leftovers() == [])
        }

        @Test func `storekeeper dev goes on when its Postgres restarts`() async throws {
            let place = try Place()
            let dev = try await place.start(["dev", "--count", "300", "--rate", "50"])
            try await place.waits(for: "stored [1-9]", in: dev.log)
            // The server ends all of its sessions and recovers when a process that it started is killed.
            let server = Descendants.of(dev.identifier).filter { Descendants.name(of: $0) == "postgres" }.sorted()
            kill(try #require(server.dropFirst().first), SIGKILL)
            #expect(await dev.ending() == .exit(0), "\(dev.logTail(lines: 60))")
            #expect(dev.logTail(lines: 10_000).contains("Postgres does not answer; the run goes on when it does"))
        }

        @Test func `storekeeper dev reports a process that dies with the end of its log, and keeps the logs`()
            async throws
        {
            let place = try Place()
            let dev = try await place.start(["dev", "--rate", "20"])
            try await place.waits(for: "stored [1-9]", in: dev.log)
            let verifier = try #require(
                Descendants.of(dev.identifier).first { Descendants.name(of: $0) == "verifier" })
            kill(verifier, SIGKILL)
            #expect(await dev.ending() == .exit(1), "\(dev.logTail(lines: 400))")
            #expect(dev.logTail(lines: 40).contains("verifier ended unexpectedly (signal 9)"))
            let left = try #require(try place.leftovers().first)
            #expect(try place.leftovers().count == 1)
            #expect(try FileManager.default.contentsOfDirectory(atPath: "\(place.directory)/tmp/\(left)") == ["logs"])
            #expect(dev.logTail(lines: 40).contains("\(left)/logs/verifier.log"))
        }
    }
}

/// A temporary directory of one's own and programs that are started in it.
final class Place: Sendable {
    private let root: TemporaryDirectory
    private let spawner = Spawner()

    var directory: String { root.path }

    init() throws {
        root = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: directory + "/tmp", withIntermediateDirectories: true)
        // As open as the real one: the database's own user removes its directory itself.
        try FileManager.default.setAttributes([.posixPermissions: 0o1777], ofItemAtPath: directory + "/tmp")
    }

    /// Starts `storekeeper`; everything it writes is in the log.
    func start(_ arguments: [String], of program: String = "storekeeper") async throws -> ChildProcess {
        try await spawner.start(
            program, program: try EndToEnd.binaries.path(of: program), arguments: arguments,
            environment: ["PATH": "/usr/bin:/bin", "TMPDIR": directory + "/tmp"], log: directory + "/log")
    }

    /// Waits until a line of a growing file matches.
    func waits(for pattern: String, in file: String) async throws {
        try await runs("tail -n +1 -F '\(file)' 2>/dev/null | grep -q -m 1 '\(pattern)'")
    }

    /// Waits until a process that is not ours is gone.
    func waits(forEndOf process: Int32) async throws {
        try await runs("tail --pid=\(process) -f /dev/null")
    }

    /// What is left in the temporary directory.
    func leftovers() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory + "/tmp") }

    private func runs(_ script: String) async throws {
        let child = try await spawner.start(
            "wait", program: "/usr/bin/timeout", arguments: ["120", "/bin/sh", "-c", script],
            environment: ["PATH": "/usr/bin:/bin"], log: directory + "/wait")
        #expect(await child.ending() == .exit(0), "\(script): \(child.logTail())")
    }
}

/// The processes that a process has started, and those that they have.
enum Descendants {
    static func of(_ process: Int32) -> [Int32] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        let parents = all.compactMap { Int32($0) }.map { ($0, parent(of: $0)) }
        var found: [Int32] = []
        var generation = [process]
        while !generation.isEmpty {
            generation = parents.filter { generation.contains($0.1 ?? -1) }.map(\.0)
            found += generation
        }
        return found
    }

    static func name(of process: Int32) -> String? {
        (try? String(contentsOfFile: "/proc/\(process)/comm", encoding: .utf8))?
            .trimmingCharacters(in: .whitespacesAndNewlines)
    }

    private static func parent(of process: Int32) -> Int32? {
        guard let stat = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8),
            let end = stat.lastIndex(of: ")")
        else { return nil }
        // Behind the name, which may hold anything: state, then the parent.
        return stat[stat.index(after: end)...].split(separator: " ").dropFirst().first.flatMap { Int32($0) }
    }
}
