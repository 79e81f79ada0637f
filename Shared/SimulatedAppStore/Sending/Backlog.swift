import AsyncHTTPClient
import Foundation
import Synchronization

/// The backlog of the receiver, from a page that answers `{"waiting": 1234}`.
///
/// The embedded broker drops old records when it is full, so the simulator pauses while the backlog is large, and also while
/// the page does not answer.
final class Backlog: Sendable {
    private struct Page: Decodable { var waiting: Int }
    private static let interval: Duration = .milliseconds(100)
    /// Requests without an answer before a message: 5 s.
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

    /// Polls until cancelled. Reports on standard error when the page has not answered for a while, because sending pauses then.
    func watch() async {
        var silence = 0
        while !Task.isCancelled {
            let waiting = try? await ask()
            newest.withLock { $0 = waiting }
            silence = waiting == nil ? silence + 1 : 0
            if silence == Self.patience {
                let text = "simulator: \(url) does not answer; sending pauses until it does\n"
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
