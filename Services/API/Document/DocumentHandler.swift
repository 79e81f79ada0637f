/// Serves the document itself, for programs and for people.
struct DocumentHandler: Sendable {
    private let document: APIDocument
    /// Made when it is asked for first: most instances are never asked.
    private static let page = try? ReferencePage(APIDocument.embedded().bytes)

    init(_ dependencies: Dependencies) { document = dependencies.document }

    func get(_ request: APIRequest) -> APIResponse {
        var response = APIResponse(json: document.bytes)
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }

    /// `GET /reference`
    func reference(_ request: APIRequest) throws -> APIResponse {
        guard let page = Self.page else {
            throw Problem(.internalError, "The page could not be made; /openapi.json has the same.")
        }
        var response = APIResponse(json: page.bytes)
        response.headers[.contentType] = "text/html; charset=utf-8"
        response.headers[.contentSecurityPolicy] = ReferencePage.policy
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }
}
