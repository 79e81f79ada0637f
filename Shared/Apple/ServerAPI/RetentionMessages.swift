import AppStore
import struct Foundation.UUID

/// Messages that Apple shows a customer who is about to cancel: the Retention Messaging API, with the hosts and tokens of this one. 1 request a
/// second of each kind, 10 of defaults. Images and messages are reviewed by Apple before they are shown.
///
/// <https://developer.apple.com/documentation/retentionmessaging>
extension AppStoreServerAPI {
    private static let messaging = ["inApps", "v1", "messaging"]

    private func request(
        _ endpoint: APIEndpoint, _ method: APIRequest.Method, _ path: String..., query: [(String, String)] = [],
        body: (any Payload)? = nil,
        bytes: [UInt8]? = nil, contentType: String = "application/json"
    ) throws(APIError) -> APIRequest {
        try APIRequest(
            endpoint, method, Self.messaging + path, query: query, body: body, bytes: bytes,
            contentType: contentType)
    }

    /// Uploads an image.
    ///
    /// - Parameters:
    ///   - png: the file.
    ///   - size: Apple's `imageSize`, `FULL_SIZE` or `BULLET_POINT`; nil is Apple's default.
    /// - Throws: `APIError` with `invalidImage`, `badRequestImageSize`, `imageAlreadyExists` or `maximumNumberOfImagesReached`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/upload-image>
    public func uploadRetentionImage(_ id: UUID, png: [UInt8], size: String? = nil) async throws {
        try await perform(
            request(
                .retentionImageUpload, .put, "image", id.uuidString.lowercased(),
                query: size.map { [("imageSize", $0)] } ?? [], bytes: png,
                contentType: "image/png"))
    }

    /// Deletes an image that no message shows.
    ///
    /// - Throws: `APIError` with `imageNotFound` or `imageInUse`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/delete-image>
    public func deleteRetentionImage(_ id: UUID) async throws {
        try await perform(request(.retentionImageDeletion, .delete, "image", id.uuidString.lowercased()))
    }

    /// The images, with Apple's decision about each.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/get-image-list>
    public func retentionImages() async throws -> [RetentionImage] {
        let answer: RetentionImageList = try await answer(request(.retentionImages, .get, "image", "list"))
        return answer.images
    }

    /// Uploads a message.
    ///
    /// - Parameter json: Apple's `UploadMessageRequestBody`.
    /// - Throws: `APIError` with `headerTooLong`, `bodyTooLong`, `altTextTooLong`, `badRequestTooManyBulletPoints`, `imageNotFound`,
    ///   `messageAlreadyExists` or `maximumNumberOfMessagesReached`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/upload-message>
    public func uploadRetentionMessage(_ id: UUID, json: [UInt8]) async throws {
        try await perform(request(.retentionMessageUpload, .put, "message", id.uuidString.lowercased(), bytes: json))
    }

    /// Deletes a message.
    ///
    /// - Throws: `APIError` with `messageNotFound`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/delete-message>
    public func deleteRetentionMessage(_ id: UUID) async throws {
        try await perform(request(.retentionMessageDeletion, .delete, "message", id.uuidString.lowercased()))
    }

    /// The messages, with Apple's decision about each.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/get-message-list>
    public func retentionMessages() async throws -> [RetentionMessage] {
        let answer: RetentionMessageList = try await answer(request(.retentionMessages, .get, "message", "list"))
        return answer.messages
    }

    /// Sets the message that is shown for a product in a language unless the realtime URL answers another.
    ///
    /// - Throws: `APIError` with `messageNotFound`, `messageNotApproved` or `invalidLocale`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/configure-default-message>
    public func setDefaultRetentionMessage(_ id: UUID, productId: String, locale: String) async throws {
        try await perform(
            request(.retentionDefault, .put, "default", productId, locale, body: DefaultRetentionMessage(id)))
    }

    /// Takes the default of a product and language back.
    ///
    /// - Throws: `APIError` with `defaultMessageNotFound`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/delete-default-message>
    public func deleteDefaultRetentionMessage(productId: String, locale: String) async throws {
        try await perform(request(.retentionDefaultDeletion, .delete, "default", productId, locale))
    }

    /// The default of a product and language.
    ///
    /// - Throws: `APIError` with `defaultMessageNotFound`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/get-default-message>
    public func defaultRetentionMessage(productId: String, locale: String) async throws -> String {
        let answer: DefaultRetentionMessage = try await answer(
            request(.retentionDefaultLookup, .get, "default", productId, locale))
        return try required(answer.messageIdentifier, "messageIdentifier", of: .retentionDefaultLookup)
    }

    /// Sets the address that Apple asks which message to show.
    ///
    /// - Throws: `APIError` with `badRequestRealtimeURL`; in production `forbiddenNoPassingTest` until a performance test passed.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/configure-realtime-url>
    public func setRealtimeURL(_ url: String) async throws {
        try await perform(request(.realtimeURL, .put, "realtime", "url", body: RealtimeURL(realtimeURL: url)))
    }

    /// Takes the address back.
    ///
    /// - Throws: `APIError` with `realtimeURLNotFound`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/delete-realtime-url>
    public func deleteRealtimeURL() async throws {
        try await perform(request(.realtimeURLDeletion, .delete, "realtime", "url"))
    }

    /// The address that Apple asks.
    ///
    /// - Throws: `APIError` with `realtimeURLNotFound`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/get-realtime-url>
    public func realtimeURL() async throws -> String {
        let answer: RealtimeURL = try await answer(request(.realtimeURLLookup, .get, "realtime", "url"))
        return try required(answer.realtimeURL, "realtimeURL", of: .realtimeURLLookup)
    }

    /// Lets Apple try the realtime URL of the sandbox.
    ///
    /// - Returns: Apple's answer with the `requestId`, by which the result is asked for.
    /// - Throws: `APIError` with `existingPerformanceTestRun`, `realtimeURLNotFound` or `invalidPerformanceTestRequest`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/initiate-performance-test>
    public func startPerformanceTest(of originalTransactionId: String) async throws -> PerformanceTest {
        try await answer(
            request(
                .performanceTest, .post, "performanceTest",
                body: PerformanceTestRequest(originalTransactionId: originalTransactionId)))
    }

    /// The result of a performance test.
    ///
    /// - Throws: `APIError` with `performanceTestRunNotFound` or `invalidRequestId`.
    ///
    /// <https://developer.apple.com/documentation/retentionmessaging/get-performance-test-results>
    public func performanceTest(_ requestId: String) async throws -> PerformanceTest {
        try await answer(request(.performanceTestResult, .get, "performanceTest", "result", requestId))
    }
}
