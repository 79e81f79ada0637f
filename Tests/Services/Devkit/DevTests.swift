import Commands
import Foundation
import TestSupport
import Testing

@testable import Devkit

struct DevTests {
    private static let context = CommandContext(
        now: { Date(timeIntervalSince1970: 0) }, seed: { 1 }, id: { UUID() }, executable: "/programs/storekeeper",
        environment: [:], user: "ann", print: { _ in }, warn: { _ in }, confirm: nil)

    /// The list of API keys names its files; the scheduler looked for a relative one below the list and ended with 78.
    @Test func `dev gives its services absolute paths of relative directories`() throws {
        let here = FileManager.default.currentDirectoryPath
        let environment = try Dev.parse(["--keep", "kept", "--log-dir", "../logs"]).development(in: Self.context)
        #expect(environment.keep == here + "/kept")
        #expect(environment.logDirectory == URL(fileURLWithPath: here).deletingLastPathComponent().path + "/logs")
    }

    @Test func `dev uses a temporary directory without --keep, and absolute paths as they are`() throws {
        #expect(try Dev.parse([]).development(in: Self.context).keep == nil)
        #expect(try Dev.parse(["--keep", "/kept"]).development(in: Self.context).keep == "/kept")
    }

    @Test func `dev says how to start without the broker and database of another run, where the terminal names them`()
        throws
    {
        var context = Self.context
        #expect(try Dev.parse([]).development(in: context).foreign == nil)
        context.environment = ["KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9", "DATABASE_URL": ""]
        let hint = try #require(try Dev.parse([]).development(in: context).foreign)
        #expect(hint.hasPrefix("KAFKA_BOOTSTRAP_SERVERS set in this terminal"), "\(hint)")
        #expect(hint.contains("open a new terminal") && hint.contains("Deploy/run"), "\(hint)")
    }

    @Test func `dev signs ahead only in a counted run`() throws {
        #expect(throws: (any Error).self) { try Dev.parse(["--presigned"]) }
        #expect(try Dev.parse(["--presigned", "--count", "10"]).presigned)
    }
}
