/** What people write around STOP without changing its meaning: courtesy, haste, themselves, and the messages that shall end. */
import { foldWord } from './fold.ts'

// `it` and `I want to` are missing, because people cancel orders and appointments with them.
const words = [
  // English
  'please,pls,plz,kindly,thanks,thank you,thank you very much,thank you so much,thanks a lot,many thanks,thank u,thx,ty,hi,hello,sir,madam,ok,okay,now,right now,immediately,at once,asap,me,us,all,everything',
  'my number,me off,sending,texting,messaging,contacting,bothering,spamming',
  // French, German, Dutch
  's’il vous plaît,s’il te plaît,svp,stp,merci,merci beaucoup,merci d’avance,bonjour,moi,tout,maintenant,immédiatement',
  'bitte,danke,vielen dank,danke schön,dankeschön,mich,sofort,jetzt,alles,hallo',
  'alstublieft,alsjeblieft,aub,a.u.b.,dank u,dank u wel,dank je,dank je wel,bedankt,graag,mij',
  // Danish, Norwegian, Swedish, Finnish
  'tack,takk,tak,tusen takk,mange tak,vänligen,vennligst,venligst,snälla,nu,nå,mig,meg,alla,alle,alt,allt,hej,hei,kiitos,ole hyvä,heti',
  // Spanish, Portuguese, Italian, Romanian
  'por favor,porfavor,porfa,gracias,muchas gracias,hola,ya,ahora,ahora mismo,dar de,darme de,dame de,deme de,denme de,todos',
  'obrigado,obrigada,muito obrigado,muito obrigada,olá,agora,já',
  'per favore,perfavore,per piacere,per cortesia,grazie,grazie mille,subito,adesso,mi,ciao',
  'vă rog,vă rog frumos,te rog,mulțumesc,mersi,acum,mă',
  // Polish, Czech, Turkish, Indonesian, Vietnamese
  'proszę,bardzo proszę,dziękuję,dzięki,natychmiast,mnie,prosím,děkuji,díky,ihned,mě,se',
  'lütfen,teşekkürler,teşekkür ederim,hemen,tolong,mohon,terima kasih,makasih,sekarang,xin,vui lòng,làm ơn,cảm ơn,xin cảm ơn',
  // Russian, Ukrainian, Greek
  'пожалуйста,пжл,пжлст,спасибо,сейчас,немедленно,меня,мне,смс,от смс,от рассылки,рассылка,рассылку,будь ласка,дякую,зараз,мене,від розсилки',
  'παρακαλώ,σας παρακαλώ,ευχαριστώ',
  // Arabic, Hebrew, Hindi
  'من فضلك,من فضلكم,لو سمحت,لو سمحتم,رجاء,الرجاء,شكرا,الرسائل,الاشتراك,בבקשה,תודה,אותי,אנא,कृपया,धन्यवाद,करें,करो,कर दो,कर दें,कीजिए,दीजिए',
]
// In the folded form of a text.
const phrases = [
  // `Stop it`
  '(?<= STOP )(?:IT|THIS|THAT)',
  '(?:(?:THE|THESE|THIS|THOSE|YOUR|ALL|ANY|MORE) )*(?:TEXTS?|TXTS?|MESSAGES?|MSGS?|SMS|SPAM|ADS|PROMOS?)',
  '(?:(?:FROM|OFF) )+(?:(?:THE|THIS|THESE|YOUR|ALL|ANY) )*(?:LISTS?|TEXTS?|MESSAGES?|SMS)|FROM ALL',
  '(?:(?:LES|VOS|CES|AUX|DES) )*(?:TEXTOS?|PUBS?|MESSAGES|SMS)',
  '(?:(?:DIE|DIESE|ALLE|KEINE|DE|DEZE) )*(?:NACHRICHTEN|WERBUNG|BERICHTEN|SMS)',
  '(?:(?:LOS|SUS|ESTOS|DE|AS|OS|SUAS|I|GLI|QUESTI) )*(?:MENSAJES|MENSAGENS|MESSAGGI|SMS)',
]
// These languages write no blanks, or do as they like.
const unspaced =
  '请,請,谢谢,謝謝,麻烦,麻煩,短信,簡訊,お願いいたします,お願い致します,お願いします,おねがいします,お願い,してください,して下さい,ください,希望,メールを,メール,配信を,' +
  '해주시기 바랍니다,해주세요,해 주세요,해주십시오,부탁드립니다,부탁드려요,부탁합니다,부탁해요,바랍니다,감사합니다,부탁,합니다,해요,제발,문자,' +
  'ครับ,ค่ะ,คะ,นะ,ด้วย,กรุณา,โปรด,ขอบคุณ,ส่ง,ข้อความ'

/** Folded, the longest first: alternatives of a pattern are tried in order. */
const foldList = (list: string): string[] =>
  list
    .split(',')
    .map(foldWord)
    .sort((a, b) => b.length - a.length)

const inside = new RegExp(foldList(unspaced).join('|'), 'gu')
const between = new RegExp(` (?:${[...phrases, ...foldList(words.join())].join('|')})(?= )`, 'gu')

/** A folded text without such words. */
export const withoutCourtesy = (folded: string): string =>
  ` ${folded.replace(inside, ' ')} `.replaceAll(/ +/g, ' ').replace(between, '').trim()
