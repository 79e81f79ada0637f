import Postgres
import StrictJSON

extension JSONText {
    /// An array of texts.
    init(texts: [String]) {
        var json = JSONWriter()
        json.beginArray()
        for text in texts { json.element(text) }
        json.endArray()
        self.init(String(decoding: json.bytes, as: UTF8.self))
    }

    /// The texts of a JSON array of strings; nil for any other JSON.
    var texts: [String]? {
        (try? JSONDocument(Array(text.utf8)))?.root.elements.compactMap(\.string)
    }
}
