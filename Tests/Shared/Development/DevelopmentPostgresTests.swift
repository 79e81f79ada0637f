import Development
import Foundation
import Postgres
import TestSupport
import Testing

@Suite struct FreePortTests {
    @Test func `Port is none that the kernel gives to a connection`() throws {
        let range = try String(contentsOfFile: "/proc/sys/net/ipv4/ip_local_port_range", encoding: .utf8)
        let lowest = try #require(range.split(whereSeparator: \.isWhitespace).first.flatMap { Int($0) })
        for _ in 0..<100 { #expect(try FreePort.find() < lowest) }
    }
}

@Suite struct DevelopmentPostgresTests {
    static func connection(_ server: DevelopmentPostgres) -> PostgresConnection {
        PostgresConnection(
            PostgresConfiguration(url: server.url, applicationName: "test"), logger: .init(label: "test"))
    }

    @Test func `Temporary server leaves nothing behind`() async throws {
        let server = try await DevelopmentPostgres.start(durability: .none)
        try await Self.connection(server).connect()
        let process = try #require(await server.serverProcess())
        await server.stop()
        #expect(!FileManager.default.fileExists(atPath: server.directory))
        #expect(kill(process, 0) == -1 && errno == ESRCH)
    }

    @Test func `Directory that is given keeps its data, also when the server was killed`() async throws {
        let temporary = try TemporaryDirectory()
        let parent = temporary.path
        // The server's user must be able to pass through.
        chmod(parent, 0o755)
        let first = try await DevelopmentPostgres.start(directory: parent + "/postgres", durability: .none)
        try await Self.connection(first).run(unsafeScript: "create table place as select 7 as id")
        kill(try #require(await first.serverProcess()), SIGKILL)
        await first.stop()
        let second = try await DevelopmentPostgres.start(directory: parent + "/postgres", durability: .none)
        let row = try await Self.connection(second).execute(Statement("test-place", "select id from place"))[0]
        #expect(try row.value("id") == Int32(7))
        await second.stop()
        #expect(FileManager.default.fileExists(atPath: parent + "/postgres/data/PG_VERSION"))
    }
}
