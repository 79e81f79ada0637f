import Foundation
import Hummingbird
import TestSupport
import Testing

@testable import Chassis

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.hangLimit) struct RouterServingTests {
    private static func status(of url: URL) async throws -> Int? {
        let (_, response) = try await URLSession.shared.data(from: url)
        return (response as? HTTPURLResponse)?.statusCode
    }

    private static var logger: Logger { Logger(label: "test") { _ in SwiftLogNoOpLogHandler() } }

    @Test func `Server whose caller is cancelled completes the answer in progress`() async throws {
        let (questions, asked) = AsyncStream.makeStream(of: Void.self)
        let (permissions, permit) = AsyncStream.makeStream(of: Void.self)
        let (ports, found) = AsyncStream.makeStream(of: Int.self)
        let serving = Task {
            let router = Router()
            router.get("slow") { _, _ -> HTTPResponse.Status in
                asked.yield()
                // Nil where the server was cancelled.
                let permission: Void? = await permissions.first { _ in true }
                return permission == nil ? .serviceUnavailable : .ok
            }
            try await router.serving(logger: Self.logger) { port in
                found.yield(port)
                try await gracefulShutdown()
            }
        }
        let port = try #require(await ports.first { _ in true })
        let url = try #require(URL(string: "http://127.0.0.1:\(port)/slow"))
        async let status = Self.status(of: url)
        _ = await questions.first { _ in true }
        serving.cancel()
        permit.yield()
        let answered = try await status
        #expect(answered == 200)
        await #expect(throws: CancellationError.self) { try await serving.value }
    }

    @Test func `Error of the body stops the server, and is thrown`() async throws {
        struct Fault: Error {}
        await #expect(throws: Fault.self) {
            let router = Router()
            try await router.serving(logger: Self.logger) { (_: Int) -> Void in throw Fault() }
        }
    }
}
