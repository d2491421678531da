/** `/metrics`: chooses what a scraper gets, and for how many at once. */
import type { Clock } from '../../pipeline/component.ts'
import { text, type Route } from '../../pipeline/server/router.ts'
import type { Collections } from './collections.ts'
import { chooseEncoding, CONTENT_ENCODINGS } from './content-encoding.ts'
import { chooseFormat } from './negotiation.ts'
import { send } from './send.ts'

/** In seconds: by then a scrape that is not stuck is through. */
const RETRY_AFTER = '5'

/** Takes the response over and writes it itself: an exposition may be larger than what can be held. */
export function metricsRoute(collections: Collections, clock: Clock, atOnce: number): Route {
  let underWay = 0
  return {
    method: 'GET',
    path: '/metrics',
    about: 'the latest value of every live series',
    async handle(request, response) {
      const format = chooseFormat(request.headers.accept)
      const encoding = chooseEncoding(request.headers['accept-encoding']?.toString())
      const vary = 'Accept, Accept-Encoding'
      if (encoding === undefined) {
        return text(406, `nothing that is accepted can be sent: there are ${CONTENT_ENCODINGS.join(', ')}`, { vary })
      }
      const headers = {
        'content-type': format.contentType,
        vary,
        ...(encoding !== 'identity' && { 'content-encoding': encoding }),
      }
      if (request.method === 'HEAD') {
        response.writeHead(200, headers).end()
        return undefined
      }
      if (underWay >= atOnce) {
        return text(503, `${atOnce} requests are being answered, which is the limit: try again later`, {
          'retry-after': RETRY_AFTER,
        })
      }
      underWay++
      try {
        await collections.use(format, collection => send(response, headers, collection, { encoding, clock }))
      } finally {
        underWay--
      }
      return undefined
    },
  }
}
