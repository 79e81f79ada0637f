import AsyncHTTPClient
import Foundation
import Synchronization

/// How much waits in the receiver, asked from a page that answers `{"waiting": 1234}`.
///
/// The embedded broker forgets what lies too long; so the simulator waits while too much lies there, and also while the
/// page does not answer: who sends blindly makes it forget.
final class Backlog: Sendable {
    private struct Page: Decodable { var waiting: Int }
    private static let interval: Duration = .milliseconds(100)
    /// Questions without an answer before somebody is told: 5 s.
    private static let patience = 50

    private let client: HTTPClient
    private let url: String
    private let limit: Int
    private let newest = Mutex<Int?>(nil)

    init(client: HTTPClient, url: String, limit: Int) {
        self.client = client
        self.url = url
        self.limit = limit
    }

    /// Whether more may be sent.
    var hasRoom: Bool { newest.withLock { $0.map { $0 < limit } ?? false } }

    /// Asks until cancelled. Says so on standard error when nobody has answered for a while, for nothing is sent then.
    func watch() async {
        var silence = 0
        while !Task.isCancelled {
            let waiting = try? await ask()
            newest.withLock { $0 = waiting }
            silence = waiting == nil ? silence + 1 : 0
            if silence == Self.patience {
                let text = "simulator: \(url) does not say how much waits; nothing is sent until it does\n"
                FileHandle.standardError.write(Data(text.utf8))
            }
            try? await Task.sleep(for: Self.interval)
        }
    }

    private func ask() async throws -> Int {
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(2))
        var body: [UInt8] = []
        for try await part in response.body { body.append(contentsOf: part.readableBytesView) }
        return try JSONDecoder().decode(Page.self, from: Data(body)).waiting
    }
}
