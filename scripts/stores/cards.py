"""The contacts that `imported.py` imports, with a table by hand of the name, numbers, mails and birthday of each.

A case is its name, its bytes, and its contacts as `name | numbers | mails | birthday`, in the order of the names.
"""
from calendars import given

# The cards that were reported against other programs.
GIVEN = {
    "b64photo21.vcf": ["Photo Person | 83 | |"], "badline.vcf": ["Bad Line | 81 | |"],
    "commatel.vcf": ["Comma Tel | +1,555;123 | |"], "dupuid.vcf": ["Dup One | | |", "Dup Two | | |"],
    "emptyfn.vcf": ["x@example.org | | x@example.org |"], "latin21.vcf": ["Jörg Müller | 030 999 | |"], "lf.vcf": ["LF Card | 79 | |"],
    "lower.vcf": ["lower case | +1 555 0100 | |"], "multi.vcf": ["One | 1 | |", "Three | 3 | |", "Two | 2 | |"],
    "nested.vcf": ["Boss | 82 | |"], "noend.vcf": None, "nofn.vcf": ["Name Only | 1 | |"], "noversion.vcf": ["No Version | 87 | |"],
    "orgonly.vcf": ["Pizza Place | 030 555 | |"], "photonospace.vcf": ["Photo Nospace | 84 | |"],
    "qp21.vcf": ["Иван Иванов | +70000000001, (030) 1234 | ivan@example.org |"], "qplatin.vcf": ["Jörg Müller € | 030 998 | |"],
    "qpspacefold.vcf": ["Виктор | +70000000002 | |"], "quotparam.vcf": ["Quote | 85 | |"], "utf16.vcf": ["Utf Sixteen | 78 | |"],
    "v3fold.vcf": ["Anna Very Long Name That Is Folded Over Two Lines 😀 | +49 171 5550001 | anna@example.org | 1980-02-29"],
    "v4.vcf": ["Bo Ek | +46-70-555-0002 | bo@example.org |"], "xslash.vcf": ["Messaging | 80 | |"],
}

# Lines of a card, and what it holds. `;` before a name is the version, 3.0 without it.
WRITTEN = """
FN:Anna Berg~TEL;TYPE=CELL:+49 171 1234567 => Anna Berg | +49 171 1234567 | |
FN:Anna Berg~EMAIL:anna@example.org => Anna Berg | | anna@example.org |
FN:Anna Berg~BDAY:1980-02-29 => Anna Berg | | | 1980-02-29
FN:Anna Berg~BDAY:19800229 => Anna Berg | | | 1980-02-29
FN:Anna Berg~BDAY:--02-29 => Anna Berg | | | --02-29
4.0;FN:Anna Berg~BDAY:--0229 => Anna Berg | | | --02-29
4.0;FN:Anna Berg~BDAY:19531015T231000Z => Anna Berg | | | 1953-10-15
4.0;FN:Anna Berg~BDAY;VALUE=text:circa 1800 => Anna Berg | | |
FN:Anna Berg~BDAY;VALUE=date:1996-04-15 => Anna Berg | | | 1996-04-15
FN:Anna Berg~BDAY;X-APPLE-OMIT-YEAR=1604:1604-05-17 => Anna Berg | | | --05-17
FN:Anna Berg~BDAY:1981-02-29 => Anna Berg | | |
FN:Anna Berg~BDAY: => Anna Berg | | |
N:Berg;Anna;;; => Anna Berg | | |
N:Berg;Anna;Maria;Dr.;PhD => Dr. Anna Maria Berg PhD | | |
N:Berg;Anna,Lena;;; => Anna Lena Berg | | |
N:;Anna;;; => Anna | | |
N:Berg => Berg | | |
FN:~N:Berg;Anna;;; => Anna Berg | | |
FN:Müller\\, Söhne\\; Co => Müller, Söhne; Co | | |
FN:Back\\\\slash => Back\\slash | | |
FN:Two\\nlines => Two\\nlines | | |
FN:Anna~TEL:1~TEL:2~TEL:3 => Anna | 1, 2, 3 | |
FN:Anna~TEL;TYPE=HOME,VOICE:030 1~TEL;TYPE=WORK:030 2 => Anna | 030 1, 030 2 | |
FN:Anna~item1.TEL:1~item1.X-ABLabel:Boat => Anna | 1 | |
FN:Anna~item1.EMAIL;TYPE=INTERNET:a@example.org~item1.X-ABLabel:_$!<Work>!$_ => Anna | | a@example.org |
4.0;FN:Anna~TEL;VALUE=uri;TYPE="voice,home":tel:+1-555-0100 => Anna | +1-555-0100 | |
4.0;FN:Anna~TEL;VALUE=uri:tel:+1-555-0100;ext=7 => Anna | +1-555-0100 | |
4.0;FN:Anna~EMAIL:mailto:anna@example.org => Anna | | anna@example.org |
4.0;FN:Anna~EMAIL;PREF=1:b@example.org~EMAIL:a@example.org => Anna | | b@example.org, a@example.org |
2.1;FN:Anna~TEL;CELL;PREF:1 => Anna | 1 | |
2.1;FN;QUOTED-PRINTABLE:Anna=20Berg => Anna Berg | | |
2.1;FN;ENCODING=QUOTED-PRINTABLE;CHARSET=UTF-8:J=C3=B6rg => Jörg | | |
2.1;FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=~=B6rg => Jörg | | |
2.1;FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:J=C3=~ =B6rg => Jörg | | |
2.1;FN;CHARSET=ISO-8859-1;ENCODING=QUOTED-PRINTABLE:J=F6rg => Jörg | | |
2.1;FN;CHARSET=WINDOWS-1252;ENCODING=QUOTED-PRINTABLE:100 =80 => 100 € | | |
2.1;FN;CHARSET=WINDOWS-1251;ENCODING=QUOTED-PRINTABLE:=C8=E2=E0=ED => Иван | | |
2.1;FN;CHARSET=ISO-8859-2;ENCODING=QUOTED-PRINTABLE:=A3ukasz => Łukasz | | |
2.1;FN;CHARSET=SHIFT_JIS;ENCODING=QUOTED-PRINTABLE:=8ER=93c => 山田 | | |
2.1;N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=B6rg;;; => Jörg Müller | | |
2.1;FN:Anna~TEL;HOME;ENCODING=QUOTED-PRINTABLE:030=201 => Anna | 030 1 | |
2.1;FN:Anna~EMAIL;INTERNET;HOME:a@example.org => Anna | | a@example.org |
2.1;FN:Anna~NOTE;ENCODING=QUOTED-PRINTABLE:one=0D=0Atwo~TEL:1 => Anna | 1 | |
FN:A~ nna => Anna | | |
FN:A~	nna => Anna | | |
FN:An~ na Be~ rg => Anna Berg | | |
FN;LANGUAGE=de:Anna => Anna | | |
FN;X-P="a:b;c":Anna => Anna | | |
FN:Anna~FN:Other => Anna | | |
NICKNAME:Anni => Anni | | |
ORG:Acme\\, Inc.;Dept => Acme, Inc., Dept | | |
TEL:12345 => 12345 | 12345 | |
EMAIL:only@example.org => only@example.org | | only@example.org |
ORG:;~TEL:7 => 7 | 7 | |
FN: Anna  => Anna | | |
fn:Anna~tel:1~bday:1980-01-02 => Anna | 1 | | 1980-01-02
FN:山田 太郎 => 山田 太郎 | | |
FN:يوسف حداد => يوسف حداد | | |
FN:👩‍💻 Dev => 👩‍💻 Dev | | |
FN:Anna~PHOTO;ENCODING=b;TYPE=JPEG:AAAA~TEL:1 => Anna | 1 | |
FN:Anna~PHOTO;ENCODING=b;TYPE=JPEG:AAAAB~TEL:1 => Anna | 1 | |
FN:Anna~PHOTO;ENCODING=b;TYPE=JPEG:AAAABB~TEL:1 => Anna | 1 | |
2.1;FN:Anna~PHOTO;ENCODING=BASE64;JPEG:~ AAAA~ BBBB~~TEL:1 => Anna | 1 | |
2.1;FN:Anna~PHOTO;ENCODING=BASE64;JPEG:AAAA~BBBB~~TEL:1 => Anna | 1 | |
4.0;FN:Anna~PHOTO:data:image/png;base64,AAAA~TEL:1 => Anna | 1 | |
FN:Anna~no colon here~TEL:1 => Anna | 1 | |
FN:Anna~X-ODD;A="b;c":kept~TEL:1 => Anna | 1 | |
FN:Anna~~TEL:1 => Anna | 1 | |
FN:Anna~TEL: => Anna | | |
FN:Anna~TEL;TYPE=CELL:+1 (555) 010-0199 x5 => Anna | +1 (555) 010-0199 x5 | |
FN:Anna~ADR:;;Street 1;Town;;123;Land~TEL:1 => Anna | 1 | |
FN:Anna~REV:2026-01-01T00:00:00Z~TEL:1 => Anna | 1 | |
FN:Anna~CATEGORIES:a,b~TEL:1 => Anna | 1 | |
4.0;KIND:individual~FN:Anna~GENDER:F~TEL:1 => Anna | 1 | |
4.0;FN;ALTID=1;LANGUAGE=en:Anna~FN;ALTID=1;LANGUAGE=de:Änna => Anna | | |
"""

# Files of other shapes.
CARD = "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:{}\r\nFN:{}\r\nTEL:{}\r\nEND:VCARD\r\n"
FILES = {
    "mark.vcf": ("\ufeff" + CARD.format("a", "Größe", 1)).encode(), "marks.vcf": ("\ufeff" + CARD.format("a", "Größe", 1) + "\ufeff" + CARD.format("b", "Höhe", 2)).encode(),
    "utf16-bare.vcf": CARD.format("a", "Größe", 1).encode("utf-16-le"), "windows.vcf": CARD.format("a", "Größe", 1).encode("cp1252"),
    "cr.vcf": CARD.format("a", "Größe", 1).replace("\r\n", "\r").encode(),
    "equal.vcf": (CARD.format("a", "Anna", 1) * 2).encode(), "nothing.vcf": "BEGIN:VCARD\r\nVERSION:3.0\r\nUID:n\r\nNOTE:nothing\r\nEND:VCARD\r\n".encode(),
}
FILES_RIGHT = {
    "mark.vcf": ["Größe | 1 | |"], "marks.vcf": ["Größe | 1 | |", "Höhe | 2 | |"], "utf16-bare.vcf": ["Größe | 1 | |"], "windows.vcf": ["Größe | 1 | |"],
    "cr.vcf": ["Größe | 1 | |"], "equal.vcf": ["Anna | 1 | |"], "nothing.vcf": [],
}


def written():
    for index, row in enumerate(WRITTEN.strip("\n").split("\n")):
        if "=>" not in row:
            continue
        lines, right = row.split(" => ")
        version = "3.0"
        if lines[:4] in ("2.1;", "4.0;"):
            version, lines = lines[:3], lines[4:]
        # ~ ends a line; \\\\ in this file is one backslash.
        body = lines.replace("~", "\r\n")
        yield f"card-{index:02}.vcf", f"BEGIN:VCARD\r\nVERSION:{version}\r\n{body}\r\nEND:VCARD\r\n".encode(), [right.replace("\\n", "\n")]


def all_cards():
    for name, data in given():
        if name.endswith(".vcf"):
            yield name, data, GIVEN[name]
    yield from written()
    for name, data in FILES.items():
        yield name, data, FILES_RIGHT[name]
