import type { ReceiptState } from './states.ts'

/**
 * Receipts of real carriers, simulators and gateways, each after its expected reading: id|state|word|err|submit date|done date|text, with - for
 * missing fields.
 */
const SEEN = [
  // As specified, with state words of several carriers.
  '0123456789|delivered|DELIVRD|012|1005232039|1005242339|id:0123456789 sub:002 dlvrd:001 submit date:1005232039 done date:1005242339 stat:DELIVRD err:012 text:This is a sample mes',
  '1891273321|delivered|DELIVRD|000|1305050826|1305050826|id:1891273321 sub:001 dlvrd:001 submit date:1305050826 done date:1305050826 stat:DELIVRD err:000 text:DLVRD TO MOBILE',
  '1891273321|delivered|DELIVRD|000|1305050826|1305050826|id:1891273321 sub:001 dlvrd:001 submit date:1305050826 done date:1305050826 stat:DELIVRD err:000 text:',
  '4|delivered|DELIVRD|000|1006020051|1006020051|id:4 sub:001 dlvrd:001 submit date:1006020051 done date:1006020051 stat:DELIVRD err:000 Text:Hello',
  '0|delivered|DELIVRD|000|1006020051|1006020051|id:0 sub:001 dlvrd:001 submit date:1006020051 done date:1006020051 stat:DELIVRD err:000 text:first of a simulator',
  '12345|enroute|ENROUTE|000|7001010000|7001010000|id:12345 sub:001 dlvrd:001 submit date:7001010000 done date:7001010000 stat:ENROUTE err:000 text:text',
  '0512249005|enroute|ENROUTE|054|1609051327|1609051337|id:0512249005 sub:001 dlvrd:000 submit date:1609051327 done date:1609051337 stat:ENROUTE err:054 text:xxssxx',
  '98765432101|expired|EXPIRED|000|1001010000|1001010000|id:98765432101 sub:000 dlvrd:000 submit date:1001010000 done date:1001010000 stat:EXPIRED err:000 text:',
  '0000000001|unknown|BADSTAT|000|0000000000|0000000000|id:0000000001 sub:000 dlvrd:000 submit date:0000000000 done date:0000000000 stat:BADSTAT err:000 text:',
  '7220bb6bd0be98fa628de66590f80070|undeliverable|UNDELIV|005|1201010000|1201010001|id:7220bb6bd0be98fa628de66590f80070 sub:001 dlvrd:001 submit date:1201010000 done date:1201010001 stat:UNDELIV err:005 text:',
  '3|rejected|REJECTD|008|2001010000|2001010001|id:3 sub:001 dlvrd:000 submit date:2001010000 done date:2001010001 stat:REJECTD err:008 text:x',
  '3|deleted|DELETED|004|2001010000|2001010001|id:3 sub:001 dlvrd:000 submit date:2001010000 done date:2001010001 stat:DELETED err:004 text:x',
  '3|accepted|ACCEPTD|000|2001010000|2001010001|id:3 sub:001 dlvrd:000 submit date:2001010000 done date:2001010001 stat:ACCEPTD err:000 text:x',
  '3|unknown|UNKNOWN|007|2001010000|2001010001|id:3 sub:001 dlvrd:000 submit date:2001010000 done date:2001010001 stat:UNKNOWN err:007 text:x',
  '3|skipped|SKIPPED|009|2001010000|2001010001|id:3 sub:001 dlvrd:000 submit date:2001010000 done date:2001010001 stat:SKIPPED err:009 text:x',
  '74e02ee1-4e2f-4a6e-a78b-4b247d756a22|delivered|DELIVRD|000|110206193041|110206193110|id:74e02ee1-4e2f-4a6e-a78b-4b247d756a22 sub:001 dlvrd:001 submit date:110206193041 done date:110206193110 stat:DELIVRD err:000 text:',
  'a29f6845555647139e5c8f3b817f2c9a|delivered|DELIVRD|000|141023215253|141023215259|id:a29f6845555647139e5c8f3b817f2c9a sub:001 dlvrd:001 submit date:141023215253 done date:141023215259 stat:DELIVRD err:000 text:HOLA',
  '18446744073709551615|delivered|DELIVRD|000|2301010000|2301010000|id:18446744073709551615 sub:001 dlvrd:001 submit date:2301010000 done date:2301010000 stat:DELIVRD err:000 text:',
  '0x1A2B3C|delivered|DELIVRD|000|2301010000|2301010000|id:0x1A2B3C sub:001 dlvrd:001 submit date:2301010000 done date:2301010000 stat:DELIVRD err:000 text:',
  'smsc-1:abc/7.2|delivered|DELIVRD|000|2301010000|2301010000|id:smsc-1:abc/7.2 sub:001 dlvrd:001 submit date:2301010000 done date:2301010000 stat:DELIVRD err:000 text:',
  'rdwjwxns18krxr9936ey96ymcw|undeliverable|UNDELIV|000|180711070003912+|180711070000012+|id:rdwjwxns18krxr9936ey96ymcw sub:000 dlvrd:000 submit date:180711070003912+ done date:180711070000012+ stat:UNDELIV err:000',
  '|delivered|DELIVRD|000|2301010000|2301010000|id: sub:001 dlvrd:001 submit date:2301010000 done date:2301010000 stat:DELIVRD err:000 text:',
  'c87c2273-7edb-4bc7-8d3a-7f57f21b625e|delivered|DELIVRD|000|201506201641|201506201641|id:c87c2273-7edb-4bc7-8d3a-7f57f21b625e submit date:201506201641 done date:201506201641 stat:DELIVRD err:000',
  '2E179B310EDE971B2760C72B7F026E1B|delivered|DELIVRD|0|20110314181534|20110314181741|id:2E179B310EDE971B2760C72B7F026E1B submit date:20110314181534 done date:20110314181741 stat:DELIVRD err:0',
  '1526758174|delivered|DELIVRD|000|1701240904|1701240904|id:1526758174 submit date:1701240904 done date:1701240904 stat:DELIVRD err:000 text:hellow',
  '123456|delivered|DELIVRD|-|1604052345|1605021145|id:123456 sub:234 dlvrd:000 submit date:1604052345 done date:1605021145 stat:DELIVRD',
  '123456|delivered|DELIVRD|-|-|-|id:123456 stat:DELIVRD',
  '123456|expired|EXPIRED|-|-|1605021145|id:123456 done date:1605021145 stat:EXPIRED',
  'ce5bc5a9-4f7d-4282-9244-2e1022a9335c|delivered|DELIVRD|000|180903120815|180903120816|id:ce5bc5a9-4f7d-4282-9244-2e1022a9335c sub:000 dlvrd:000 submit date:180903120815 done date:180903120816 DELIVRD err:000 Text:',
  '|unknown|invalidStat|-|invaliddate|-|submit date:invaliddate stat:invalidStat',
  '|unknown|UNKNOWN|-|-|-|i:0123456789 su:002 dlvr:001 submit dat:1005232039 one date:1005242339 sat:DELIVRD rr:012 txt:This',
  '74e02ee1-4e2f-4a6e-a78b-4b247d756a22|delivered|DELIVRD|000|110206193041|110206193110|sub:001 id:74e02ee1-4e2f-4a6e-a78b-4b247d756a22 err:000 dlvrd:001 done date:110206193110 submit date:110206193041 text: stat:DELIVRD',
  '0123456789|rejected|DND_REJECTED|123|0809011130|0809021131|id:0123456789 sub:002 dlvrd:003 submit date:0809011130 done date:0809021131 err:123 stat:DND_REJECTED text:Hello World',
  '88|undeliverable|UNDELIV|1|-|-|stat:UNDELIV id:88 err:1',
  '77|delivered|DELIVRD|000|1305050826|1305050827|ID:77 SUB:001 DLVRD:001 SUBMIT DATE:1305050826 DONE DATE:1305050827 STAT:DELIVRD ERR:000 TEXT:X',
  '77|delivered|Delivrd|0|1305050826|1305050827|Id:77 Sub:1 Dlvrd:13 Submit Date:1305050826 Done Date:1305050827 Stat:Delivrd Err:0 Text:X',
  '123A456B|delivered|DELIVRD|0|1702281424|1702281424|id:123A456B sub:1 dlvrd:1 submit date:1702281424 done date:1702281424 stat:DELIVRD err:0 text: hello how are you there',
  '55|delivered|DELIVRD|0|1702281424|1702281424|id: 55 sub: 001 dlvrd: 001 submit date: 1702281424 done date: 1702281424 stat: DELIVRD err: 0 text: x',
  '55|delivered|DELIVRD|000|1702281424|1702281424|id:55  sub:001  dlvrd:001  submit date:1702281424  done date:1702281424  stat:DELIVRD  err:000  text:x',
  '55|undeliverable|FAILED|000|1702281424|1702281425|id:55\tsub:001\r\nsubmitdate:1702281424\r\ndonedate:1702281425\r\nstat:FAILED\r\nerr:000\r\n',
  '55|delivered|DELIVRD|000|1702281424|1702281425|id:55,sub:001,dlvrd:001,submit date:1702281424,done date:1702281425,stat:DELIVRD,err:000,text:x',
  '55|delivered|DELIVERED|0|2017-02-28 14:24:05|2017-02-28 14:24:06|id:55 submit_date:2017-02-28 14:24:05 done_date:2017-02-28 14:24:06 state:DELIVERED error:0',
  '55|rejected|REJECTED|69|1702281424|1702281424|id:55 sub:001 dlvrd:000 submit date:1702281424 done date:1702281424 stat:REJECTED err:69 text:',
  '55|undeliverable|UNDELIVERABLE|1|1702281424|1702281424|id:55 sub:001 dlvrd:000 submit date:1702281424 done date:1702281424 stat:UNDELIVERABLE err:1 text:',
  '55|delivered|2|1|1702281424|1702281424|id:55 sub:001 dlvrd:000 submit date:1702281424 done date:1702281424 stat:2 err:1 text:',
  '55|rejected|BLACKLISTED|1|1702281424|1702281424|id:55 sub:001 dlvrd:000 submit date:1702281424 done date:1702281424 stat:BLACKLISTED err:1 text:',
  '55|undeliverable|DELIVERY_FAILED|34|1702281424|1702281424|id:55 sub:001 dlvrd:000 submit date:1702281424 done date:1702281424 stat:DELIVERY FAILED err:34 text:',
  '55|undeliverable|Delivery_to_handset_failed|34|1702281424|1702281424|id:55 sub:001 dlvrd:000 submit date:1702281424 done date:1702281424 stat:Delivery to handset failed err:34 text:',
  '55|undeliverable|NOT_DELIVERED|34|1702281424|1702281424|id:55 sub:001 dlvrd:000 submit date:1702281424 done date:1702281424 stat:NOT DELIVERED err:34 text:',
  '55|rejected|DND_REJECTED|34|1702281424|1702281424|id:55 sub:001 dlvrd:000 submit date:1702281424 done date:1702281424 stat:DND REJECTED err:34 text:',
  '55|delivered|DELIVERED|0|1702281424|1702281424|id:55 sub:001 dlvrd:001 submit date:1702281424 done date:1702281424 stat:DELIVERED TO HANDSET err:0 text:',
  '0123456789|delivered|DELIVRD|21b|1005232039|1005242339|id:0123456789 sub:002 dlvrd:001 submit date:1005232039 done date:1005242339 stat:DELIVRD err:21b text:This is a sample mes',
  '117062714244798261|delivered|DELIVRD|0000|1706271624|1706271624|id:117062714244798261 sub:001 dlvrd:001 submit date:1706271624 done date:1706271624 stat:DELIVRD err:0000 text:Hllo world',
  '9|undeliverable|UNDELIV|0x45|1706271624|1706271624|id:9 sub:001 dlvrd:000 submit date:1706271624 done date:1706271624 stat:UNDELIV err:0x45 text:',
  '9|undeliverable|UNDELIV|-|1706271624|1706271624|id:9 sub:001 dlvrd:000 submit date:1706271624 done date:1706271624 stat:UNDELIV err: text:',
  '9|undeliverable|UNDELIV|-1|-|-|id:9 sub:001 dlvrd:000 submit date: done date: stat:UNDELIV err:-1 text:',
  // Texts that look like fields, and octets that are not text.
  '9|delivered|DELIVRD|000|1706271624|1706271624|id:9 sub:001 dlvrd:001 submit date:1706271624 done date:1706271624 stat:DELIVRD err:000 text:my id:8 stat:UNDELIV err:5',
  '0489708364|delivered|DELIVRD|000|1810151907|1810151907|id:0489708364 sub:001 dlvrd:001 submit date:1810151907 done date:1810151907 stat:DELIVRD err:000 text:\u0004\u001f\u0004@\u00048\u00042',
  '0059113978|delivered|DELIVRD|000|1002101730|1002101731|id:0059113978 sub:001 dlvrd:001 submit date:1002101730 done date:1002101731 stat:DELIVRD err:000 text:@$#!%&/:',
  '9|delivered|DELIVRD|000|1706271624|1706271624|id:9 sub:001 dlvrd:001 submit date:1706271624 done date:1706271624 stat:DELIVRD err:000\u0000',
  '9|delivered|DELIVRD|-|1706271624|1706271624|id:9\u0000 sub:001 dlvrd:001 submit date:1706271624 done date:1706271624 stat:DELIVRD\u0000',
  'a_b|rejected|DND_REJECTED|000|1706271624|1706271624|id:a\u0011b sub:001 dlvrd:001 submit date:1706271624 done date:1706271624 stat:DND\u0011REJECTED err:000 text:',
  '9|delivered|DELIVRD|000|1706271624|1706271624|\u0005\u0000\u0003\u0001\u0002\u0001id:9 sub:001 dlvrd:001 submit date:1706271624 done date:1706271624 stat:DELIVRD err:000 text:x',
]

export type SeenReceipt = {
  text: string
  id: string
  state: ReceiptState
  stat: string
  err: string | null
  submitDate: string | null
  doneDate: string | null
}

export const seenReceipts: SeenReceipt[] = SEEN.map((row) => {
  const [id = '', state = '', stat = '', err, submitDate, doneDate, ...text] = row.split('|')
  const orNull = (value = '-'): string | null => (value === '-' ? null : value)
  return {
    text: text.join('|'),
    id,
    state: state as ReceiptState,
    stat,
    err: orNull(err),
    submitDate: orNull(submitDate),
    doneDate: orNull(doneDate),
  }
})
