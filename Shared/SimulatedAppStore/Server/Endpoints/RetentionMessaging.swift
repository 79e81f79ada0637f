import Foundation
import StrictJSON

/// The Retention Messaging API, with Apple's limits and errors.
extension StoreAPI {
    private static let maximumCount = 2000
    /// Pixels, of a full-size image.
    private static let imageWidth: UInt32 = 3840
    /// Pixels, of a full-size image.
    private static let imageHeights: ClosedRange<UInt32> = 160...2160
    /// Pixels, the width and height of a bullet point's image.
    private static let bulletPoint: UInt32 = 1024

    func uploadRetentionImage(_ call: APICall) throws -> APIAnswer {
        let id = try Self.uuid(call.id)
        let size = call.request.parameter("imageSize") ?? "FULL_SIZE"
        guard ["FULL_SIZE", "BULLET_POINT"].contains(size) else { throw APIFault(4_000_216) }
        guard let image = PNGHeader(call.request.body), !image.hasTransparency else { throw APIFault(4_000_161) }
        let fits =
            size == "BULLET_POINT"
            ? image.width == Self.bulletPoint && image.height == Self.bulletPoint
            : image.width == Self.imageWidth && Self.imageHeights.contains(image.height)
        guard fits else { throw APIFault(4_000_161) }
        return try retention.with(call.app) { content in
            guard content.images[id] == nil else { throw APIFault(4_090_000) }
            guard content.images.count < Self.maximumCount else { throw APIFault(4_030_014) }
            content.images[id] = RetentionMessageContents.Image(size: size, uploadedAt: call.now)
            return APIAnswer(status: 200)
        }
    }

    func deleteRetentionImage(_ call: APICall) throws -> APIAnswer {
        let id = try Self.uuid(call.id)
        return try retention.with(call.app) { content in
            guard content.images[id] != nil else { throw APIFault(4_040_014) }
            guard !content.messages.values.contains(where: { $0.images.contains(id) }) else {
                throw APIFault(4_030_019)
            }
            content.images[id] = nil
            return APIAnswer(status: 200)
        }
    }

    func retentionImages(_ call: APICall) -> APIAnswer {
        let images = retention.with(call.app) { $0.images }.sorted { $0.key < $1.key }
        return APIAnswer { json in
            json.objects("imageIdentifiers", of: images) { json, named in
                json.member("imageIdentifier", named.key)
                json.member("imageState", state(of: named.key, named.value.uploadedAt, call).rawValue)
                json.member("imageSize", named.value.size)
            }
        }
    }

    func uploadRetentionMessage(_ call: APICall) throws -> APIAnswer {
        let id = try Self.uuid(call.id)
        let json = try call.json()
        guard let header = json["header"]?.string, let body = json["body"]?.string else { throw APIFault(4_000_000) }
        guard header.count <= 66 else { throw APIFault(4_000_162) }
        guard body.count <= 144 else { throw APIFault(4_000_163) }
        let points = json["bulletPoints"]?.elements ?? []
        guard points.count <= 5 else { throw APIFault(4_000_218) }
        guard points.allSatisfy({ ($0["text"]?.string ?? "").count <= 66 }) else { throw APIFault(4_000_219) }
        let shown = ([json["image"]] + points.map { $0 }).compactMap { $0?.isNull == false ? $0 : nil }
        guard shown.allSatisfy({ ($0["altText"]?.string ?? "").count <= 150 }) else { throw APIFault(4_000_175) }
        if json["headerPosition"]?.string == "ABOVE_IMAGE", json["image"]?["imageIdentifier"] == nil {
            throw APIFault(4_000_224)
        }
        let images = Set(shown.compactMap { $0["imageIdentifier"]?.string?.lowercased() })
        return try retention.with(call.app) { content in
            guard images.allSatisfy({ content.images[$0] != nil }) else { throw APIFault(4_040_014) }
            guard content.messages[id] == nil else { throw APIFault(4_090_001) }
            guard content.messages.count < Self.maximumCount else { throw APIFault(4_030_016) }
            content.messages[id] = RetentionMessageContents.Message(images: images, uploadedAt: call.now)
            return APIAnswer(status: 200)
        }
    }

    func deleteRetentionMessage(_ call: APICall) throws -> APIAnswer {
        let id = try Self.uuid(call.id)
        return try retention.with(call.app) { content in
            guard content.messages.removeValue(forKey: id) != nil else { throw APIFault(4_040_015) }
            content.defaults = content.defaults.filter { $0.value != id }
            return APIAnswer(status: 200)
        }
    }

    func retentionMessages(_ call: APICall) -> APIAnswer {
        let messages = retention.with(call.app) { $0.messages }.sorted { $0.key < $1.key }
        return APIAnswer { json in
            json.objects("messageIdentifiers", of: messages) { json, named in
                json.member("messageIdentifier", named.key)
                json.member("messageState", state(of: named.key, named.value.uploadedAt, call).rawValue)
            }
        }
    }

    func setDefaultRetentionMessage(_ call: APICall) throws -> APIAnswer {
        let id = try Self.uuid(try call.json()["messageIdentifier"]?.string ?? "")
        let key = try Self.place(of: call)
        return try retention.with(call.app) { content in
            guard let message = content.messages[id] else { throw APIFault(4_040_015) }
            guard state(of: id, message.uploadedAt, call) == .approved else { throw APIFault(4_030_017) }
            let images = message.images.compactMap { id in content.images[id].map { (id, $0.uploadedAt) } }
            guard images.allSatisfy({ state(of: $0.0, $0.1, call) == .approved }) else { throw APIFault(4_030_018) }
            content.defaults[key] = id
            return APIAnswer(status: 200)
        }
    }

    private func state(of id: String, _ uploadedAt: Date, _ call: APICall) -> RetentionReview.State {
        retention.review.state(of: id, uploadedAt: uploadedAt, in: call.app.environment, at: call.now)
    }

    func deleteDefaultRetentionMessage(_ call: APICall) throws -> APIAnswer {
        let key = try Self.place(of: call)
        return try retention.with(call.app) { content in
            guard content.defaults.removeValue(forKey: key) != nil else { throw APIFault(4_040_020) }
            return APIAnswer(status: 200)
        }
    }

    func defaultRetentionMessage(_ call: APICall) throws -> APIAnswer {
        let key = try Self.place(of: call)
        guard let id = retention.with(call.app, { $0.defaults[key] }) else { throw APIFault(4_040_020) }
        return APIAnswer { $0.member("messageIdentifier", id) }
    }

    func setRealtimeURL(_ call: APICall) throws -> APIAnswer {
        guard let url = try call.json()["realtimeURL"]?.string, url.hasPrefix("https://"), url.count <= 256 else {
            throw APIFault(4_000_215)
        }
        var sandbox = call.app
        sandbox.environment = .sandbox
        let hasPassed = retention.with(sandbox) { $0.tests.values.contains { retention.review.passes($0) } }
        guard call.app.environment == .sandbox || hasPassed else { throw APIFault(4_030_026) }
        retention.with(call.app) { $0.realtimeURL = url }
        return APIAnswer(status: 200)
    }

    func deleteRealtimeURL(_ call: APICall) throws -> APIAnswer {
        try retention.with(call.app) { content in
            guard content.realtimeURL != nil else { throw APIFault(4_040_021) }
            content.realtimeURL = nil
            return APIAnswer(status: 200)
        }
    }

    func realtimeURL(_ call: APICall) throws -> APIAnswer {
        guard let url = retention.with(call.app, { $0.realtimeURL }) else { throw APIFault(4_040_021) }
        return APIAnswer { $0.member("realtimeURL", url) }
    }

    /// Nothing is sent to the address: the test is over at once, and the seed decides whether it has passed.
    func startPerformanceTest(_ call: APICall) throws -> APIAnswer {
        guard call.app.environment == .sandbox, let id = try call.json()["originalTransactionId"]?.string,
            APICall.isTransactionId(id)
        else { throw APIFault(4_000_211) }
        let request = "\(id)-\(call.now.milliseconds)"
        try retention.with(call.app) { content in
            guard let url = content.realtimeURL else { throw APIFault(4_040_021) }
            content.tests[request] = url
        }
        return APIAnswer { json in
            Self.write(configTo: &json)
            json.member("requestId", request)
        }
    }

    func performanceTest(_ call: APICall) throws -> APIAnswer {
        guard let url = retention.with(call.app, { $0.tests[call.id] }) else { throw APIFault(4_040_018) }
        let hasPassed = retention.review.passes(url)
        return APIAnswer { json in
            Self.write(configTo: &json)
            json.member("target", url)
            json.member("result", hasPassed ? "PASS" : "FAIL")
            json.member("successRate", Int64(hasPassed ? 100 : 90))
            json.member("numPending", Int64(0))
            json.beginObject("responseTimes")
            for name in ["average", "p50", "p90", "p95", "p99"] { json.member(name, Int64(40)) }
            json.endObject()
            json.beginObject("failures")
            if !hasPassed { json.member("TIMED_OUT", Int64(10)) }
            json.endObject()
        }
    }

    private static func write(configTo json: inout JSONWriter) {
        json.beginObject("config")
        json.member("maxConcurrentRequests", Int64(10))
        json.member("totalRequests", Int64(100))
        json.member("totalDuration", Int64(60_000))
        json.member("responseTimeThreshold", Int64(700))
        json.member("successRateThreshold", Int64(98))
        json.endObject()
    }

    private static func uuid(_ text: String) throws -> String {
        guard let uuid = UUID(uuidString: text) else { throw APIFault(4_000_000) }
        return uuid.uuidString.lowercased()
    }

    /// A language has two or three letters, and perhaps a script or region.
    private static func place(of call: APICall) throws -> String {
        guard call.arguments.count == 2 else { throw APIFault(4_000_023) }
        let locale = call.arguments[1]
        let parts = locale.split(separator: "-", omittingEmptySubsequences: false)
        guard let language = parts.first, (2...3).contains(language.count), language.allSatisfy(\.isLowercase),
            parts.count <= 3, parts.allSatisfy({ !$0.isEmpty })
        else { throw APIFault(4_000_164) }
        return "\(call.arguments[0]) \(locale)"
    }
}
