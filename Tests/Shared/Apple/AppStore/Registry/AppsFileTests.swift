import AppStore
import Testing

@Suite struct AppsFileTests {
    static func problems(_ json: String, developmentMode: Bool = false) -> [String] {
        do throws(AppsFileFault) {
            _ = try AppRegistry(appsFile: Array(json.utf8), developmentMode: developmentMode)
            return []
        } catch {
            return error.problems
        }
    }

    @Test func `AppsFile reads several apps with their environments`() throws {
        let registry = try AppRegistry(
            appsFile: Array(
                """
                [{"bundleId": "com.example.one", "appAppleId": 1, "environments": ["Production"], "name": "One"},
                 {"bundleId": "com.example.two", "environments": ["Sandbox"]}]
                """.utf8), developmentMode: false)
        let one = try #require(registry.app("com.example.one"))
        #expect(one.appAppleId == 1)
        #expect(registry.accepts(.production, for: one))
        #expect(!registry.accepts(.sandbox, for: one))
        #expect(registry.app("com.example.two")?.environments == [.sandbox])
        #expect(registry.app("com.example.three") == nil)
    }

    @Test(arguments: [
        ("", "it is not valid JSON"),
        ("[]", "it has to be a JSON array of at least one app"),
        ("{}", "it has to be a JSON array of at least one app"),
        ("[1]", "app 1: it has to be an object"),
        (#"[{"environments": ["Sandbox"]}]"#, "app 1: bundleId has to be a text"),
        (#"[{"bundleId": "a", "environments": ["Production"]}]"#, "app 1: appAppleId is needed"),
        (
            #"[{"bundleId": "a", "appAppleId": 0, "environments": ["Sandbox"]}]"#,
            "app 1: appAppleId has to be a positive"
        ),
        (#"[{"bundleId": "a", "appAppleId": "1", "environments": ["Sandbox"]}]"#, "app 1: appAppleId has to be a pos"),
        (#"[{"bundleId": "a"}]"#, "app 1: environments has to list"),
        (#"[{"bundleId": "a", "environments": ["sandbox"]}]"#, "app 1: environments may list"),
        (#"[{"bundleId": "a", "environments": ["Xcode"]}]"#, "app 1: Xcode is not signed by a trusted root"),
        (#"[{"bundleId": "a", "environments": ["Sandbox"], "bundleID": "b"}]"#, "app 1: bundleID is not a field"),
        (
            #"[{"bundleId": "a", "environments": ["Sandbox"]}, {"bundleId": "a", "environments": ["Sandbox"]}]"#,
            "app 2: a is listed twice"
        ),
    ])
    func `Mistake is named with its entry`(json: String, problem: String) {
        let problems = Self.problems(json)
        #expect(problems.count == 1 && problems[0].hasPrefix(problem), "\(problems)")
    }

    @Test func `Mistakes are reported all together`() {
        #expect(Self.problems(#"[{"bundleId": "", "environments": ["Moon"]}, {"bundleId": "b"}]"#).count == 3)
    }

    @Test func `Development mode admits Xcode`() {
        #expect(Self.problems(#"[{"bundleId": "a", "environments": ["Xcode"]}]"#, developmentMode: true).isEmpty)
    }
}
