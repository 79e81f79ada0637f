import Commands
import Foundation
import TestSupport
import Testing

@testable import Devkit

struct ChildProcessTests {
    private let spawner = Spawner()

    private func start(
        _ script: String, environment: [String: String] = [:], output: Bool = false, in directory: TemporaryDirectory
    ) async throws -> ChildProcess {
        try await spawner.start(
            "script", program: "/bin/bash", arguments: ["-c", script], environment: environment,
            log: directory.path + "/log", output: output ? directory.path + "/output" : nil)
    }

    @Test func `End of a program is told to everyone who waits`() async throws {
        let directory = try TemporaryDirectory()
        let child = try await start("exit 3", in: directory)
        async let first = child.ending()
        async let second = child.ending()
        #expect(await (first, second) == (.exit(3), .exit(3)))
        #expect(await child.ending() == .exit(3))
        #expect(!child.isRunning)
    }

    @Test func `Program that was killed says by which signal`() async throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.path + "/fifo"
        try #require(mkfifo(fifo, 0o600) == 0)
        let child = try await start("read line < \(fifo)", in: directory)
        child.send(SIGKILL)
        #expect(await child.ending() == .signal(SIGKILL))
    }

    @Test func `Program that ignores SIGTERM is forced to end after the deadline`() async throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.path + "/fifo"
        try #require(mkfifo(fifo, 0o600) == 0)
        // The script opens the pipe after setting its trap, so opening the other end waits for that.
        let child = try await start("trap '' TERM; read line < \(fifo)", in: directory)
        let pipe = try #require(FileHandle(forWritingAtPath: fifo))
        #expect(await child.stop(deadline: .milliseconds(10)) == .signal(SIGKILL))
        try pipe.close()
    }

    @Test func `Program that is asked to end may do so in order`() async throws {
        let directory = try TemporaryDirectory()
        let fifo = directory.path + "/fifo"
        try #require(mkfifo(fifo, 0o600) == 0)
        let child = try await start("trap 'kill $!; exit 7' TERM; cat \(fifo) & wait", in: directory)
        let pipe = try #require(FileHandle(forWritingAtPath: fifo))
        #expect(await child.stop(deadline: .seconds(60)) == .exit(7))
        try pipe.close()
    }

    @Test func `ChildProcess inherits only the environment that is given`() async throws {
        let directory = try TemporaryDirectory()
        let child = try await start("echo \"$GIVEN,$HOME\"", environment: ["GIVEN": "1"], in: directory)
        #expect(await child.ending() == .exit(0))
        #expect(child.logTail() == "1,")
    }

    @Test func `Output may go elsewhere than errors`() async throws {
        let directory = try TemporaryDirectory()
        let child = try await start("echo result; echo trouble >&2", output: true, in: directory)
        _ = await child.ending()
        #expect(child.logTail() == "trouble")
        #expect(try String(contentsOfFile: directory.path + "/output", encoding: .utf8) == "result\n")
    }

    @Test func `Tail of a log is its last lines`() async throws {
        let directory = try TemporaryDirectory()
        let child = try await start("for i in 1 2 3 4 5; do echo line $i; done", in: directory)
        _ = await child.ending()
        #expect(child.logTail(lines: 2) == "line 4\nline 5")
    }

    @Test func `Program that is not there is an error and not a child`() async throws {
        let directory = try TemporaryDirectory()
        let binaries = InstalledBinaries(in: directory.path)
        #expect(throws: CommandError.self) { try binaries.path(of: "ingest") }
    }
}
