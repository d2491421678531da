/** What headers may consist of (RFC 9110, 5.1 and 5.5). */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
export const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
