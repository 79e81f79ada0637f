import StrictJSON

/// Everything that is wrong with a file of apps, all at once.
public struct AppsFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence each, naming the entry and what to do.
    public let problems: [String]

    /// All problems in one line.
    public var description: String { problems.joined(separator: "; ") }
}

extension AppRegistry {
    /// The registry that a file describes: a JSON array of objects with `bundleId`, `appAppleId` (needed where
    /// Production is accepted) and `environments` (Apple's spelling).
    /// - Parameter developmentMode: whether Xcode and LocalTesting may be listed at all.
    /// - Throws: every problem of the file; a registry with a typo in it must not become one without the app.
    public init(appsFile bytes: [UInt8], developmentMode: Bool) throws(AppsFileFault) {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(bytes)
        } catch {
            throw AppsFileFault(problems: ["it is not valid JSON: \(error)"])
        }
        guard document.root.kind == .array, !document.root.elements.isEmpty else {
            throw AppsFileFault(problems: [#"it has to be a JSON array of at least one app, [{"bundleId": …}]"#])
        }
        var apps: [AcceptedApp] = []
        var problems: [String] = []
        for (index, entry) in document.root.elements.enumerated() {
            var reader = AppEntry(entry, number: index + 1, developmentMode: developmentMode)
            if let app = reader.app() {
                if apps.contains(where: { $0.bundleId == app.bundleId }) {
                    problems.append("app \(index + 1): \(app.bundleId) is listed twice")
                }
                apps.append(app)
            }
            problems += reader.problems
        }
        guard problems.isEmpty else { throw AppsFileFault(problems: problems) }
        self.init(apps: apps, developmentMode: developmentMode)
    }
}

/// One entry of the file, and what is wrong with it.
private struct AppEntry {
    private let entry: JSONValue
    private let number: Int
    private let developmentMode: Bool
    private(set) var problems: [String] = []

    init(_ entry: JSONValue, number: Int, developmentMode: Bool) {
        self.entry = entry
        self.number = number
        self.developmentMode = developmentMode
    }

    private mutating func complain(_ sentence: String) { problems.append("app \(number): \(sentence)") }

    /// The next app of the file; nil where something is wrong.
    mutating func app() -> AcceptedApp? {
        guard entry.kind == .object else {
            complain("it has to be an object")
            return nil
        }
        for (key, _) in entry.members where !["bundleId", "appAppleId", "environments", "name"].contains(key) {
            complain("\(key) is not a field; there are bundleId, appAppleId, environments and name")
        }
        let bundleId = entry["bundleId"]?.string ?? ""
        if bundleId.isEmpty { complain("bundleId has to be a text") }
        let environments = environments()
        let appAppleId = entry["appAppleId"]?.int64
        if let given = entry["appAppleId"], appAppleId.map({ $0 <= 0 }) ?? true, !given.isNull {
            complain("appAppleId has to be a positive whole number")
        }
        if environments.contains(.production), appAppleId == nil {
            complain("appAppleId is needed where Production is accepted, because Apple signs it there")
        }
        guard problems.isEmpty else { return nil }
        return AcceptedApp(bundleId: bundleId, appAppleId: appAppleId, environments: environments)
    }

    private mutating func environments() -> Set<AppStoreEnvironment> {
        guard let listed = entry["environments"], listed.kind == .array, !listed.elements.isEmpty else {
            complain(#"environments has to list what is accepted, for example ["Production", "Sandbox"]"#)
            return []
        }
        var environments: Set<AppStoreEnvironment> = []
        for element in listed.elements {
            let environment = AppStoreEnvironment(rawValue: element.string ?? "")
            let isDevelopment = environment == .xcode || environment == .localTesting
            if !environment.isKnown {
                complain("environments may list Production, Sandbox, Xcode and LocalTesting")
            } else if isDevelopment, !developmentMode {
                complain("\(environment.rawValue) is not signed by a trusted root and needs development mode")
            }
            environments.insert(environment)
        }
        return environments
    }
}
