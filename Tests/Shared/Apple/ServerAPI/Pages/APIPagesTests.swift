import Foundation
import Testing

@testable import AppStore
@testable import ServerAPI

@Suite struct APIPagesTests {
    /// Twenty-five pages of one notification; the token is the number of the next page.
    private static let script: @Sendable (ScriptedStore.Request, Int) -> ScriptedStore.Reply = { request, _ in
        let page =
            request.target.split(separator: "=").count == 2 ? Int(request.target.split(separator: "=")[1]) ?? 0 : 0
        return .json(
            #"{"paginationToken":"\#(page + 1)","hasMore":\#(page < 24),"notificationHistory":[{"signedPayload":"\#(page)"}]}"#
        )
    }

    private static let request = NotificationHistoryRequest(
        startDate: APIFixture.start, endDate: APIFixture.start, onlyFailures: true)

    private static func numbers(_ pages: [NotificationHistoryPage]) -> [String] {
        pages.flatMap(\.items).map { String(decoding: $0.signedPayload ?? [], as: UTF8.self) }
    }

    @Test func `APIPages come in order, each requested with the same body`() async throws {
        try await APIFixture.scene(Self.script) { fixture, store in
            var pages: [NotificationHistoryPage] = []
            for try await page in fixture.client(store.url).notificationHistory(Self.request) { pages.append(page) }
            #expect(Self.numbers(pages) == (0..<25).map(String.init))
            #expect(Set(store.requests.map(\.body)).count == 1)
            #expect(store.requests.first?.target == "/inApps/v1/notifications/history")
        }
    }

    @Test func `APIPages resumes from the last position and requests no page in advance`() async throws {
        try await APIFixture.scene(Self.script) { fixture, store in
            var pages: [NotificationHistoryPage] = []
            for try await page in fixture.client(store.url).notificationHistory(Self.request) {
                pages.append(page)
                if pages.count == 10 { break }
            }
            #expect(store.requests.count == 10)
            let resumed = fixture.client(store.url).notificationHistory(Self.request, from: pages.last?.position)
            for try await page in resumed { pages.append(page) }
            #expect(Self.numbers(pages) == (0..<25).map(String.init))
            #expect(store.requests.count == 25)
        }
    }

    @Test func `APIPages request the same page again after an error`() async throws {
        let script: @Sendable (ScriptedStore.Request, Int) -> ScriptedStore.Reply = { request, number in
            number == 3
                ? .code(4_000_017, "Invalid request. The pagination token is expired.") : Self.script(request, number)
        }
        try await APIFixture.scene(script) { fixture, store in
            var iterator = fixture.client(store.url).notificationHistory(Self.request).makeAsyncIterator()
            var pages: [NotificationHistoryPage] = []
            for _ in 0..<3 { pages.append(try #require(try await iterator.next())) }
            let error = try await APIFixture.error { _ = try await iterator.next() }
            #expect(error.code == .paginationTokenExpired && !error.isRetryable)
            while let page = try await iterator.next() { pages.append(page) }
            #expect(Self.numbers(pages) == (0..<25).map(String.init))
        }
    }

    @Test func `Pages whose tokens lead round in a circle end with an error`() async throws {
        let script: @Sendable (ScriptedStore.Request, Int) -> ScriptedStore.Reply = { _, number in
            .json(#"{"hasMore":true,"paginationToken":"t\#(number % 3)","notificationHistory":[{}]}"#)
        }
        try await APIFixture.scene(script) { fixture, store in
            let error = try await APIFixture.error {
                for try await _ in fixture.client(store.url).notificationHistory(Self.request) {
                    // Without an end, this test would have none either.
                    guard store.requests.count < 100 else { return }
                }
            }
            #expect(error == .lostPosition)
            #expect(store.requests.count == 4)
        }
    }

    @Test func `Empty pages whose token changes for ever end with an error`() async throws {
        let script: @Sendable (ScriptedStore.Request, Int) -> ScriptedStore.Reply = { _, number in
            .json(#"{"hasMore":true,"paginationToken":"t\#(number)","notificationHistory":[]}"#)
        }
        try await APIFixture.scene(script) { fixture, store in
            let error = try await APIFixture.error {
                for try await _ in fixture.client(store.url).notificationHistory(Self.request) {
                    // Without an end, this test would have none either.
                    guard store.requests.count < 1000 else { return }
                }
            }
            #expect("\(error)".contains("were empty"))
            // A request that a busy machine lets time out is sent again.
            #expect(Set(store.requests.map(\.target)).count == APIError.emptyPagesLimit)
        }
    }

    @Test(arguments: [
        #"{"hasMore":true,"notificationHistory":[{}]}"#,
        #"{"hasMore":true,"paginationToken":"t","notificationHistory":[{}]}"#,
    ])
    func `Page that promises more without a token is followed by an error, not a loop`(answer: String) async throws {
        try await APIFixture.scene { _, _ in
            .json(answer)
        } _: { fixture, store in
            var iterator = fixture.client(store.url).notificationHistory(Self.request, from: "t").makeAsyncIterator()
            let page = try await iterator.next()
            #expect(page?.items.count == 1, "what the page holds is not lost")
            for _ in 0..<2 {
                let error = try await APIFixture.error { _ = try await iterator.next() }
                guard case .unreadable = error else {
                    Issue.record("\(error)")
                    return
                }
            }
            #expect(store.requests.count == 1)
        }
    }

    @Test func `Revision of the last page is handed out, to be stored`() async throws {
        try await APIFixture.scene { request, _ in
            request.target.contains("revision=1")
                ? .json(#"{"revision":"2","hasMore":false}"#) : .json(#"{"revision":"1","hasMore":true}"#)
        } _: { fixture, store in
            var query = TransactionHistoryQuery()
            query.revoked = true
            var positions: [String?] = []
            for try await page in fixture.client(store.url).transactionHistory(of: "7", query) {
                positions.append(page.position)
            }
            #expect(positions == ["1", "2"])
            #expect(
                store.requests.map(\.target) == [
                    "/inApps/v2/history/7?revoked=true", "/inApps/v2/history/7?revision=1&revoked=true",
                ])
            var refunds = 0
            for try await _ in fixture.client(store.url).refundHistory(of: "7") { refunds += 1 }
            #expect(refunds == 2)
        }
    }
}
