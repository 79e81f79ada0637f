/// Serves the document itself.
struct DocumentHandler: Sendable {
    private let document: APIDocument

    init(_ dependencies: Dependencies) { document = dependencies.document }

    func get(_ request: APIRequest) -> APIResponse {
        var response = APIResponse(json: document.bytes)
        response.headers[.cacheControl] = "public, max-age=300"
        return response
    }
}
