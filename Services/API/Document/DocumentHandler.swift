import Chassis
import Hummingbird

/// Serves the document itself, for programs and for people. Strangers may ask, so each is in memory once for all answers.
struct DocumentHandler: Sendable {
    private let document: HTTPBody
    /// Made when it is asked for first: most instances are never asked.
    private static let page = try? HTTPBody.shared(ByteBuffer(bytes: ReferencePage(APIDocument.embedded().bytes).bytes))

    init(_ document: APIDocument) { self.document = .shared(ByteBuffer(bytes: document.bytes)) }

    func get(_ request: APIRequest) -> APIResponse { Self.answer(document, type: "application/json") }

    /// `GET /reference`
    func reference(_ request: APIRequest) throws -> APIResponse {
        guard let page = Self.page else {
            throw Problem(.internalError, "The page could not be made; /openapi.json has the same.")
        }
        var response = Self.answer(page, type: "text/html; charset=utf-8")
        response.headers[.contentSecurityPolicy] = ReferencePage.policy
        response.headers[.xContentTypeOptions] = "nosniff"
        return response
    }

    private static func answer(_ body: HTTPBody, type: String) -> APIResponse {
        var response = APIResponse.empty(200)
        response.headers[.contentType] = type
        response.headers[.cacheControl] = "public, max-age=300"
        response.body = body
        return response
    }
}
