import AppStore

/// What Apple sent us, or will send because we ask for it.
extension AppStoreServerAPI {
    /// What Apple sent us and how that went, oldest first. 50 requests a second, twenty notifications each.
    ///
    /// - Parameter paginationToken: Of a page of exactly the same request.
    /// - Throws: On asking for a page: `APIError` with `startDateTooFarInPast` (180 days; 30 in sandbox),
    ///   `paginationTokenExpired`, `multipleFiltersSupplied`, `invalidNotificationType`.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-notification-history>
    public func notificationHistory(
        _ request: NotificationHistoryRequest, from paginationToken: String? = nil
    ) -> APIPages<NotificationHistoryPage> {
        APIPages(start: paginationToken) { token in
            let response: NotificationHistoryResponse = try await answer(
                APIRequest(
                    .notificationHistory, .post, ["inApps", "v1", "notifications", "history"],
                    query: token.map { [("paginationToken", $0)] } ?? [], body: request))
            return NotificationHistoryPage(response)
        }
    }

    /// Makes Apple send a TEST notification to the address that is entered in App Store Connect. 1 request a second. After a
    /// broken connection it may be two; the token is of the last.
    ///
    /// - Returns: The token for ``testNotificationStatus(_:)``.
    /// - Throws: `APIError` with `serverNotificationURLNotFound` where no address is entered for this environment.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/request-a-test-notification>
    public func requestTestNotification() async throws -> String {
        let endpoint = APIEndpoint.testNotification
        let response: SendTestNotificationResponse = try await answer(
            APIRequest(endpoint, .post, ["inApps", "v1", "notifications", "test"]))
        return try required(response.testNotificationToken, "testNotificationToken", of: endpoint)
    }

    /// What became of a test notification. 1 request a second.
    ///
    /// - Throws: `APIError` with `testNotificationNotFound` until Apple has sent it.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-test-notification-status>
    public func testNotificationStatus(_ token: String) async throws -> NotificationHistoryItem {
        try await answer(
            APIRequest(.testNotificationStatus, .get, ["inApps", "v1", "notifications", "test", token]))
    }
}
