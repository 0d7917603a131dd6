// All words of the scenes, in English and in Chinese.
const seconds = played => (played.millis / 1000).toFixed(1);
const texts = {
  en: {
    other: '中文', others: 'Other problems that locks solve', sale: 'The flash sale', way: 'Way', play: 'Play', list: 'What happened, line by line',
    ready: 'Press “Play”.', playing: 'Playing …', gone: 'The sale has ended, or does not answer.',
    server: number => `Server ${number}`, reader: (server, reader) => `Server ${server}, reader ${Number(reader) + 1}`,
    lanes: { reader: 'Reader', writer: 'Writer', cache: 'Cache, then', database: 'Database, then',
      hall: 'Hall', kitchen: 'Kitchen', study: 'Study', attic: 'Attic' },
    kinds: {
      load: () => 'loads from the database', wait: () => 'waits, then reads the cache', read: value => `reads ${value}`, put: value => `the cache says ${value}`,
      change: value => `changes it to ${value}, clears the cache`, cache: value => value, database: value => value,
      report: () => 'writes the report', skip: () => 'is told: done, or being written', visit: server => `visitor (server ${server})`, paint: server => `painter (server ${server})`,
    },
    scenes: {
      'hot-key': {
        title: 'A hot key', intro: 'An entry of the cache has expired, and twelve readers on all servers want it at once. To load it takes the database 0.4 s.',
        ways: { plain: 'each reader loads (stampede)', 'single-flight': 'single flight' },
        verdict: played => `12 readers, ${played.count === 1 ? 'one load' : played.count + ' loads'}.`,
      },
      price: {
        title: 'Cache and database', intro: 'A reader has read the price from the database, and is slow to put it into the cache. Meanwhile a writer changes the price from 100 to 200 and clears the cache.',
        ways: { plain: 'write, then clear', 'read-write': 'under a read-write lock' },
        verdict: played => (played.count < 0 ? 'The cache is empty' : `The cache says ${played.count}`) + `, the database says 200.` + (played.held ? '' : ' It stays wrong until the price changes again.'),
      },
      report: {
        title: 'One report', intro: 'Every server has the same timer, and its second one comes when the first report is done. One report is wanted.',
        ways: { plain: 'each timer writes', lock: 'under a lock alone', once: 'Once: a lock, and a record of what ran' },
        verdict: played => played.held ? 'One report was written.' : `${played.count} reports were written.`,
      },
      house: {
        title: 'A house of several keys', intro: 'Four rooms, six visitors and two painters. Visitors may be in a room together; a painter wants it alone.',
        ways: { plain: 'no lock', house: 'one lock for the house', rooms: 'a read-write lock for each room' },
        verdict: played => (played.held ? 'No visitor met a painter.' : `${played.count} visits beside a painter.`) + ` It took ${seconds(played)} s.`,
      },
    },
  },
  zh: {
    other: 'English', others: '锁能解决的其他问题', sale: '秒杀现场', way: '方式', play: '开始', list: '逐行看发生了什么',
    ready: '点“开始”。', playing: '进行中……', gone: '秒杀已结束,或没有应答。',
    server: number => `服务器 ${number}`, reader: (server, reader) => `服务器 ${server},读者 ${Number(reader) + 1}`,
    lanes: { reader: '读者', writer: '写者', cache: '之后的缓存', database: '之后的数据库', hall: '客厅', kitchen: '厨房', study: '书房', attic: '阁楼' },
    kinds: {
      load: () => '从数据库加载', wait: () => '等待,然后读缓存', read: value => `读到 ${value}`, put: value => `缓存里是 ${value}`,
      change: value => `改成 ${value},清缓存`, cache: value => value, database: value => value,
      report: () => '写报表', skip: () => '得知:已写完或正在写', visit: server => `访客(服务器 ${server})`, paint: server => `油漆工(服务器 ${server})`,
    },
    scenes: {
      'hot-key': {
        title: '热点键', intro: '缓存里的一个条目过期了,所有服务器上的十二个读者同时要它。从数据库加载需要 0.4 秒。',
        ways: { plain: '每个读者都加载(缓存击穿)', 'single-flight': '单飞:一个人加载' },
        verdict: played => `12 个读者,加载 ${played.count} 次。`,
      },
      price: {
        title: '缓存与数据库', intro: '读者从数据库读了价格,放进缓存前慢了一步。这时写者把价格从 100 改成 200,并清了缓存。',
        ways: { plain: '先写库,再清缓存', 'read-write': '用读写锁' },
        verdict: played => (played.count < 0 ? '缓存是空的' : `缓存里是 ${played.count}`) + `,数据库里是 200。` + (played.held ? '' : '在价格再次改变之前,它一直是错的。'),
      },
      report: {
        title: '只写一份报表', intro: '每台服务器有同样的定时器,第一份报表写完后,定时器又响一次。只要一份报表。',
        ways: { plain: '每个定时器都写', lock: '只用锁', once: 'Once:锁加运行记录' },
        verdict: played => `写了 ${played.count} 份报表。`,
      },
      house: {
        title: '多把钥匙的房子', intro: '四个房间,六位访客,两位油漆工。访客可以同在一个房间,油漆工要独占。',
        ways: { plain: '没有锁', house: '整座房子一把锁', rooms: '每个房间一把读写锁' },
        verdict: played => (played.held ? '没有访客遇到油漆工。' : `${played.count} 次访问撞上了油漆工。`) + `用时 ${seconds(played)} 秒。`,
      },
    },
  },
};
