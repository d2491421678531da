/** Servers of which every node has one, written in Go with the usual client library. */
import { sendText, type Exchange, type Face, type FaceName } from './face.ts'
import type { SimulatedNode } from './node.ts'

/** The text at each path below `/nodes/NODE`, in pieces. */
export type NodeTexts = Readonly<Record<string, (node: SimulatedNode, exchange: Exchange) => readonly string[]>>

const PATH = /^\/nodes\/([^/]+)(\/.+)$/

/** Endpoints are called by their node, whichever path was asked for. */
export function createNodeFace(name: FaceName, nodes: readonly SimulatedNode[], texts: NodeTexts, type: string): Face {
  const nodesByName = new Map(nodes.map(node => [node.name, node]))
  return {
    name,
    endpointOf(path) {
      const [, node, rest] = PATH.exec(path) ?? []
      return node !== undefined && nodesByName.has(node) && Object.hasOwn(texts, rest!) ? node : undefined
    },
    paths: () => nodes.flatMap(node => Object.keys(texts).map(path => `/nodes/${node.name}${path}`)),
    respond(endpoint, exchange) {
      const [, , path] = PATH.exec(exchange.path)!
      const pieces = texts[path!]!(nodesByName.get(endpoint)!, exchange)
      sendText(exchange, { 'Content-Type': type }, pieces, { mayCompress: true })
    },
  }
}
