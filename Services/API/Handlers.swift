/// Which function answers which operation of `openapi.json`: one line for each `operationId`.
enum Handlers {
    static func all(_ dependencies: Dependencies) -> [String: Handler] {
        let entitlements = EntitlementHandlers(dependencies)
        return [
            "getDocument": DocumentHandler(dependencies).get,
            "getDocumentAsYAML": DocumentHandler(dependencies).get,
            "getAccountEntitlements": entitlements.ofAccount,
        ]
    }
}
