/// Something for each of a few devices, in the order of their ids. Nearly always it is one, so the elements lie side by
/// side, and finding one compares ids.
package struct DeviceMap<Value> {
    private var elements: [(key: DeviceID, value: Value)] = []

    package init() {}

    package subscript(device: DeviceID) -> Value? {
        get { elements.first { $0.key == device }?.value }
        set {
            let index = elements.firstIndex { $0.key >= device } ?? elements.endIndex
            let isThere = index < elements.endIndex && elements[index].key == device
            switch newValue {
            case let value? where isThere: elements[index].value = value
            case let value?: elements.insert((device, value), at: index)
            case nil: if isThere { elements.remove(at: index) }
            }
        }
    }

    package var keys: [DeviceID] { elements.map(\.key) }

    package var values: [Value] { elements.map(\.value) }

    package func filter(_ isIncluded: (Element) -> Bool) -> Self {
        var map = self
        map.elements = elements.filter(isIncluded)
        return map
    }

    /// Adds what another map has; of two values for one device, those that `combine` makes of them.
    package mutating func merge(_ other: Self, _ combine: (Value, Value) -> Value) {
        for (device, value) in other { self[device] = self[device].map { combine($0, value) } ?? value }
    }
}

extension DeviceMap: RandomAccessCollection {
    package typealias Element = (key: DeviceID, value: Value)

    package var startIndex: Int { elements.startIndex }
    package var endIndex: Int { elements.endIndex }

    package subscript(index: Int) -> Element { elements[index] }
}

extension DeviceMap: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (DeviceID, Value)...) {
        for (device, value) in elements { self[device] = value }
    }
}

extension DeviceMap: Equatable where Value: Equatable {
    package static func == (left: Self, right: Self) -> Bool { left.elements.elementsEqual(right.elements, by: ==) }
}

extension DeviceMap: Hashable where Value: Hashable {
    package func hash(into hasher: inout Hasher) {
        hasher.combine(elements.count)
        for (device, value) in elements {
            hasher.combine(device)
            hasher.combine(value)
        }
    }
}

extension DeviceMap: Sendable where Value: Sendable {}
