/// Written names of models in the order of their publication, the family that each becomes, and whether it is refused
/// because another written name made that family before.
enum WrittenNames {
    struct Row: Sendable {
        let written: String
        /// `nil` for a name of which no family can be made.
        let family: String?
        let isClash: Bool
    }

    static let rows: [Row] = table.split(separator: "\n").compactMap { line in
        guard let arrow = line.firstRange(of: " → ") else { return nil }
        let words = line[arrow.upperBound...].split(separator: " ")
        return Row(
            written: String(line[..<arrow.lowerBound]), family: words[0] == "none" ? nil : String(words[0]),
            isClash: words.count > 1)
    }

    private static let table = """
        bär → bar
        BÄR → bar
        Bär → bar
        bar → bar clash
        bár → bar clash
        bãr → bar clash
        Bār → bar clash
        bår → bar clash
        bör → bor
        Bör → bor
        bor → bor clash
        bőr → bor clash
        bør → bor clash
        Straße → strasse
        STRAßE → strasse
        strasse → strasse clash
        Ærø → aero
        aero → aero clash
        aerö → aero clash
        Łódź → lodz
        łódź → lodz
        Lodz → lodz clash
        œuvre → oeuvre
        oeuvre → oeuvre clash
        Œuvre → oeuvre
        Français → francais
        Francais → francais clash
        niño → nino
        nino → nino clash
        nĩno → nino clash
        İstanbul → istanbul
        istanbul → istanbul clash
        ıstanbul → istanbul clash
        Þór → thor
        thor → thor clash
        dýr → dyr
        eð → ed
        EÐ → ed
        saltcaðuri → saltcaduri
        český model → cesky-model
        Český Model → cesky-model
        cesky-model → cesky-model clash
        žižka → zizka
        győr → gyor
        szörny → szorny
        Iași → iasi
        Iaşi → iasi clash
        malta għawdex → malta-ghawdex
        tiếng việt → tieng-viet
        Tiếng Việt → tieng-viet
        tieng-viet → tieng-viet clash
        façade 3 → facade-3
        ﬁ-model → fi-model
        fi-model → fi-model clash
        ĳ → ij
        ǆ → dz
        naïve → naive
        résumé-v2 → resume-v2
        jalapeño.q → jalapeno.q
        smörgås_bord → smorgas_bord
        Москва → moskva
        москва → moskva
        Moskva → moskva clash
        Київ → kiiv
        Σοφία → sophia
        σοφια → sophia clash
        sofia → sofia
        Αθήνα → athena
        北京 → bei-jing
        bei jing → bei-jing clash
        Bei-Jing → bei-jing clash
        東京 → dong-jing
        东京 → dong-jing clash
        한국어 → hangug-eo
        서울 → seoul
        とうきょう → toukyou
        カタカナ → katakana
        ｶﾀｶﾅ → katakana clash
        かたかな → katakana clash
        हिन्दी → hindi
        தமிழ் → tamil
        สวัสดี → swasdi
        العربية → al-rbyt
        עברית → bryt
        فارسی → farsy
        Հայաստան → hayastan
        საქართველო → sakartvelo
        বাংলা → banla
        አማርኛ → amar-na
        кольцо → kol-co
        объект → ob-ekt
        щука → suka
        模型 7b → mo-xing-7b
        模型-7b → mo-xing-7b clash
        模型7b → mo-xing7b
        中文·大模型 → zhong-wen-da-mo-xing
        ｆｕｌｌｗｉｄｔｈ → fullwidth
        fullwidth → fullwidth clash
        ①②③ → none
        Ⅷ → viii
        ½ model → 1-2-model
        m² → m
        x₂ → x
        № 5 → no-5
        ™model → model
        model™ → model clash
        model® → model-r
        🙂 → none
        model🙂 → model clash
        🙂model → model clash
        a🙂b → a-b
        a-b → a-b clash
        a b → a-b clash
        👨‍👩‍👧 → none
        日本🙂モデル → ri-ben-moderu
        … → none
        — → none
        «модель» → model clash
        “model” → model clash
        model’s → model-s
        model's → model-s clash
        models → models
        l’été → l-ete
        l'ete → l-ete clash
        O'Neill → o-neill
        d’Artagnan → d-artagnan
        model–2 → model-2
        model—2 → model-2 clash
        model-2 → model-2 clash
        model_2 → model_2
        model.2 → model.2
        model 2 → model-2 clash
        Model 2 → model-2 clash
        model (2) → model--2
        model [2] → model--2 clash
        model{2} → model-2 clash
        model,2 → model-2 clash
        model;2 → model-2 clash
        model+2 → model-2 clash
        model=2 → model-2 clash
        model&co → model-co
        model@home → model-home
        model#1 → model-1
        model$ → model clash
        model%20x → model-20x
        model! → model clash
        model~ → model clash
        -model → model clash
        _model → model clash
        --model-- → model clash
        model- → model clash
        model_ → model clash
        model. → model clash
        (model) → model clash
        ___ → none
        m → m clash
        M → m clash
        7 → 7
        7b → 7b
        ٣ب → 3b
        ७ → 7 clash
        lupus diary → lupus-diary
        Lupus Diary → lupus-diary
        lupus-diary → lupus-diary clash
        LUPUS_DIARY → lupus_diary
        lupus.diary → lupus.diary
        Qwen2.5-0.5B-Instruct → qwen2.5-0.5b-instruct
        qwen2.5-0.5b-instruct → qwen2.5-0.5b-instruct
        Qwen2.5 0.5B Instruct → qwen2.5-0.5b-instruct clash
        SmolLM2 → smollm2
        smollm2 → smollm2
        Llama 3.2 (3B) → llama-3.2--3b
        llama-3.2--3b → llama-3.2--3b clash
        Mistral Nemo → mistral-nemo
        mistral-nemo → mistral-nemo clash
        phi_3.5 → phi_3.5
        Phi 3.5 → phi-3.5
        Ａ１ → a1
        a1 → a1 clash
        ａ１ → a1
        ét́e → ete
        été → ete clash
        ete → ete clash
        ñ → n
        ñ → n
        N → n clash
        Ångström → angstrom
        Ångström → angstrom
        angstrom → angstrom clash
        Åse → ase
        aase → aase
        Ǻ → a
        schön → schon
        schoen → schoen
        schon → schon clash
        Schön → schon
        Žluťoučký kůň → zlutoucky-kun
        zlutoucky-kun → zlutoucky-kun clash
        příliš → prilis
        prilis → prilis clash
        ʻokina → okina
        okina → okina clash
        Hawaiʻi → hawai-i
        hawaii → hawaii
        مدل → mdl
        עט → t
        """
}
