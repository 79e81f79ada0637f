import AppStore
import Chassis
import Foundation
import Signatures

/// Whom we trust and which apps are ours, as two kinds of file say it.
struct Trusted {
    let trust: TrustStore
    let apps: AppRegistry

    /// Reads the files anew.
    /// - Throws: `ConfigurationProblems` with all that is wrong in all of them.
    init(_ settings: Settings<Configuration>) throws(ConfigurationProblems) {
        var problems: [ConfigurationProblem] = []
        var trust = TrustStore.apple
        for file in settings.roots ?? [] {
            guard settings.developmentMode else {
                problems.append(
                    .unusable(
                        name: "STOREKEEPER_ROOT_FILES",
                        reason: "names \(file), but only Apple's root is trusted outside development mode"))
                continue
            }
            do {
                trust = try trust.adding(rootsIn: try Self.bytes(of: file))
            } catch {
                problems.append(.unusable(name: "STOREKEEPER_ROOT_FILES", reason: "names \(file): \(error)"))
            }
        }
        self.trust = trust
        var apps = AppRegistry(apps: [])
        do {
            apps = try AppRegistry(
                appsFile: try Self.bytes(of: settings.apps), developmentMode: settings.developmentMode)
        } catch let fault as AppsFileFault {
            problems += fault.problems.map {
                .unusable(name: "STOREKEEPER_APPS_FILE", reason: "names \(settings.apps): \($0)")
            }
        } catch {
            problems.append(.unusable(name: "STOREKEEPER_APPS_FILE", reason: "names \(settings.apps): \(error)"))
        }
        self.apps = apps
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
    }

    private static func bytes(of file: String) throws(UnreadableFile) -> [UInt8] {
        guard let data = FileManager.default.contents(atPath: file) else { throw UnreadableFile() }
        return Array(data)
    }
}

private struct UnreadableFile: Error, CustomStringConvertible {
    var description: String { "it cannot be read; check that it is there and that this user may read it" }
}
