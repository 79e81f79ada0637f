import Digests
import Mustache

/// The templates and assets, embedded in the binary.
struct Templates: Sendable {
    static let sources: [(name: String, text: [UInt8])] = [
        ("layout", PackageResources.layout_mustache), ("form", PackageResources.form_mustache),
        ("moment", PackageResources.moment_mustache), ("fault", PackageResources.fault_mustache),
        ("sign-in", PackageResources.sign_in_mustache), ("overview", PackageResources.overview_mustache),
        ("search", PackageResources.search_mustache), ("purchase", PackageResources.purchase_mustache),
        ("account", PackageResources.account_mustache),
        ("notifications", PackageResources.notifications_mustache),
        ("notification", PackageResources.notification_mustache),
        ("dead-letters", PackageResources.dead_letters_mustache),
        ("dead-letter-list", PackageResources.dead_letter_list_mustache),
        ("selection", PackageResources.selection_mustache), ("coverage", PackageResources.coverage_mustache),
        ("recover", PackageResources.recover_mustache), ("pipeline", PackageResources.pipeline_mustache),
        ("audit", PackageResources.audit_mustache), ("sessions", PackageResources.sessions_mustache),
        ("insight", PackageResources.insight_mustache),
        ("revenue", PackageResources.revenue_mustache),
        ("revenue-report", PackageResources.revenue_report_mustache),
        ("revenue-purchases", PackageResources.revenue_purchases_mustache),
        ("revenue-corrections", PackageResources.revenue_corrections_mustache),
        ("help", PackageResources.help_mustache),
        ("erasure", PackageResources.erasure_mustache), ("plan", PackageResources.plan_mustache),
        ("webhooks", PackageResources.webhooks_mustache), ("webhook", PackageResources.webhook_mustache),
        ("refunds", PackageResources.refunds_mustache), ("refund", PackageResources.refund_mustache),
        ("offers", PackageResources.offers_mustache),
        ("chart-table", PackageResources.chart_table_mustache),
        ("compare", PackageResources.compare_mustache),
        ("compare-differences", PackageResources.compare_differences_mustache),
    ]

    let library: MustacheLibrary
    /// For tests: what was missing in the view models.
    let missing: MissingNames

    init() throws {
        library = MustacheLibrary(
            templates: Dictionary(
                uniqueKeysWithValues: try Self.sources.map { source in
                    (source.name, try MustacheTemplate(string: String(decoding: source.text, as: UTF8.self)))
                }))
        missing = MissingNames()
    }

    /// - Parameter model: a struct; its properties are the names that the template may use.
    func html(_ template: String, _ model: Any, in shell: Shell) -> String {
        let fields = Mirror(reflecting: model).children.map { ($0.label ?? "", $0.value) }
        let root = ViewNode([("shell", shell as Any)] + fields, missing: missing)
        return library.render(root, withTemplate: template) ?? ""
    }
}

/// Files that pages refer to.
struct Asset: Sendable {
    let path: String
    let type: String
    let bytes: [UInt8]

    static let style = Asset(path: "console.css", type: "text/css; charset=utf-8", bytes: PackageResources.console_css)
    static let script = Asset(
        path: "console.js", type: "text/javascript; charset=utf-8", bytes: PackageResources.console_js)
    static let icon = Asset(path: "icon.svg", type: "image/svg+xml", bytes: PackageResources.icon_svg)
    static let all = [style, script, icon]

    /// With the digest of the contents, so that a browser may keep it and never has an old one.
    var address: String {
        let digest = SHA256Hash.digest(bytes).prefix(6).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "/assets/\(path)?\(digest)"
    }
}
