/**
 * Non-ASCII letters of a language, or all letters if it has none, commonest first. By encoding, to distinguish Cyrillic from Greek in the
 * same bytes.
 */
export interface Alphabet {
  letters: string
  /** ASCII letters that its words do not have. */
  lacks?: string
  /** Two adjacent letters are as usual as one. */
  isOwnScript?: boolean
  /** Letters of which every lower-case word has one, except the shortest. */
  stressed?: string
}

const latin = (letters: string, lacks?: string): Alphabet => ({ letters, ...(lacks && { lacks }) })
const own = (letters: string): Alphabet => ({ letters, isOwnScript: true })

const western = [
  latin('éèàçêâîôûùïëœæÿü'),
  latin('üäößé'),
  latin('éáíóñúü'),
  latin('ãçáéíóêõâúàôü'),
  latin('àèéìòùíîó'),
  latin('éëïöüóáêè'),
  latin('öäåéüá'),
  latin('øæåéöäòôóüê'),
  latin('éèàòçíóúïü·'),
]
const icelandic = latin('áíðöóéúþýæ', 'cqwz')
const turkish = latin('ıüşçöğiâîû', 'qwx')
const central = [
  latin('łóążęśćńź'),
  latin('íáéěřýžčšůúťňďó'),
  latin('áíčéýžšúľťôňäďóĺŕ'),
  latin('éáőöóíüúű', 'q'),
  latin('ăîâșțşţ'),
  latin('čšžćđ', 'qwxy'),
]
const russian = own('оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё')
const ukrainian = own('оанивіртелкдмупсяьзгбчхйжїцюшщєфґ')
const bulgarian = own('аиоентрсвлдкпмзъбугячжйцщшхфюь')
const serbian = own('аиоенрстујвдкмплзгбчћшжњцхљђфџ')
const belarusian = own('анаіеорсцлткмяўдвбпугзычьжшхёйюэф')
const greek = { ...own('αοιετνσςρηπκμλυδγωχθφβξζψάέήίόύώϊϋΐΰ'), stressed: 'άέήίόύώΐΰ' }
const hebrew = own('יוהלאתרבשמנדחםקעצפכגטזסןךףץ')
const arabic = own('ايلمنرتبوةعدسفهكقحجشطصخذزضثغظءأإآىئؤ')
const thai = own('านรกเงมยลวดทสตปอะิีัหคบจพแขใชไโผซูุถศ่้์ําธณึฟ็ษญภฉ๊ฮื')
const vietnamese = latin('đáàảãạăắằẳẵặâấầẩẫậéèẻẽẹêếềểễệíìỉĩịóòỏõọôốồổỗộơớờởỡợúùủũụưứừửữựýỳỷỹỵ')
const baltic = [latin('ėšųįžąęūč', 'qwx'), latin('āšīēņļķģčžū', 'qwxy'), latin('äõüöšž', 'cqwxy')]
const cyrillic = [russian, ukrainian, bulgarian, serbian, belarusian]

/** Single-byte encodings with their alphabets; the first of several that fit equally is the most common. */
export const singleByte: Readonly<Record<string, readonly Alphabet[]>> = {
  'windows-1252': [...western, icelandic],
  'windows-1251': cyrillic,
  'windows-1250': central,
  'windows-1254': [turkish],
  'windows-1253': [greek],
  'windows-1255': [hebrew],
  'windows-1256': [arabic],
  'windows-1257': baltic,
  'windows-1258': [vietnamese],
  'windows-874': [thai],
  macintosh: western,
  'koi8-r': [russian, bulgarian],
  'koi8-u': [ukrainian],
  ibm866: [russian, belarusian],
  'iso-8859-2': central,
  'iso-8859-5': cyrillic,
  'iso-8859-7': [greek],
  'x-mac-cyrillic': [russian, ukrainian],
}

// Letters of names and header words, and the most frequent ones of all texts.
const chinese =
  '的一是不了在人有我他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后小么心多天而能好都然没日于起还发成事只作当想看文无开手十用主行方又如前所本见经头面公同三已老从动两长知民样现分将外但身些与高意进把法此实回二理美点月明其种声全工己话儿者向情部正名定女问力机给等几很业最间新什打便位因重被走电四第门相次东政海口使教西再平真听世气信北少关并内加化由却代军产入先山五太水万市眼体别处总才场师书比住员九笑性通目华报立马命张活难神数件安表原车白应路期叫死常提感金何更反合放做系计或司利受光王果亲界及今京务制解各任至清物台象记边共风战干接它许八特觉望直服毛林题建南度统色字请交爱让认算论百吃义科怎元社术结六功指思非流每青管夫连远资队跟带花快条院变联言权往展该领传近留红治决周保达办运武半候七必城父强步完革深区即求品士转量空甚众技轻程告江语英基派满式李息写呢识极令黄德收脸钱党倒未持取设始版双历越史商千片容研像找友孩站广改议形委早房音火际则首单据导影失拿网香似斯专石若兵弟谁校读志飞观争究包组造落视济喜离虽坏刘陈杨赵吴徐孙朱胡郭罗宋郑谢韩唐冯董萧曹袁邓傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田姜范姚谭廖邹熊陆郝孔崔康邱秦顾侯邵孟龙段雷钱汤尹黎易常赖龚姓名电话号码机手邮箱址城市省客户备注编伟芳娜秀敏静丽磊洋艳勇军杰娟涛超霞刚桂玲丹萍鹏辉婷莉晨宇欣怡佳琪浩轩'
const traditional =
  '的一是不了在人有我他這中大來上國個到說們為子和你地出道也時年得就那要下以生會自著去之過家學對可她裡後小麼心多天而能好都然沒日於起還發成事只作當想看文無開手十用主行方又如前所本見經頭面公同三已老從動兩長知民樣現分將外但身些與高意進把法此實回二理美點月明其種聲全工己話兒者向情部正名定女問力機給等幾很業最間新什打便位因重被走電四第門相次東政海口使教西再平真聽世氣信北少關並內加化由卻代軍產入先山五太水萬市眼體別處總才場師書比住員王李張劉陳楊黃趙吳周徐孫馬朱胡林郭何高羅鄭梁謝宋唐許韓馮鄧曹彭曾蕭田董潘袁蔡蔣余于杜葉程魏蘇呂丁任盧姚沈鍾姜崔譚陸范汪廖石賈姓電話號碼手機郵箱址城市客戶備註編號志偉美玲淑芬雅婷怡君佳穎家豪俊傑建宏'
const korean =
  '이다는을의에가고를은한지하로기사자어나시정인도서대리스아수해주전일보부원제구상조국장성그동거경여라요용우소만세선관과안회들신중교면비공게치문화적방연학위마계실물행무분오발진년입니었했있없것때말개미내재모법당생출작민산술유영명금음건단양업호김박최강윤임류홍손송황배백허남심노곽차길태변옥표현준민지훈혜은서윤도윤하윤수빈예준주원지우시우번휴폰름객님주소고락처혁철희숙순옥자복란미경'
const kana =
  'あいうえおかきくけこさしすせそたちつてとなにぬねのはひふへほまみむめもやゆよらりるれろわをんがぎぐげござじずぜぞだぢづでどばびぶべぼぱぴぷぺぽっゃゅょぁぃぅぇぉアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲンガギグゲゴザジズゼゾダヂヅデドバビブベボパピプペポッャュョァィゥェォー・ヴ'
const kanji =
  '日一国人年大十二本中長出三時行見月分後前生五間上東四今金九入学高円子外八六下来気小七山話女北午百書先名川千水半男西電校語土木聞食車何南万毎白天母火右読友左休父雨藤田村佐井伊野原松崎島岡林森橋石清池阿部加斎近遠渡辺鈴木橋渡渡内内口沢竹谷福永吉岸平新古安和光正美恵智裕真由香奈菜愛優翔太郎一介浩健誠隆明博之幸雄彦輝也哉結衣葵陽姓氏名携帯番号電話住所都道府県市区町村様方顧客会員登録配信停止希望'

/** Multi-byte encodings with the most frequent letters of their texts. */
export const multiByte: Readonly<Record<string, ReadonlySet<string>>> = {
  shift_jis: new Set(kana + kanji),
  'euc-jp': new Set(kana + kanji),
  gb18030: new Set(chinese),
  big5: new Set(traditional),
  'euc-kr': new Set(korean),
}
