#if Llama
/// Chat templates in the manner of model families that refuse some conversations.
enum StrictTemplates {
    private static let alternate =
        "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}"

    static let all: [(name: String, source: String)] = [
        (
            "gemma",
            """
            {{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}\
            {% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\(alternate){% endif %}\
            {% set role = 'model' if message['role'] == 'assistant' else message['role'] %}\
            {{ '<start_of_turn>' + role + '\n' + message['content'] | trim + '<end_of_turn>\n' }}{% endfor %}\
            {% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}
            """
        ),
        (
            "mistral",
            """
            {{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\(alternate){% endif %}\
            {% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}\
            {% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token }}\
            {% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}
            """
        ),
        (
            "mistral-nemo",
            """
            {%- if messages[0]["role"] == "system" %}{%- set system_message = messages[0]["content"] %}{%- set loop_messages = messages[1:] %}\
            {%- else %}{%- set loop_messages = messages %}{%- endif %}{%- set ns = namespace(index=0) %}\
            {%- for message in loop_messages %}{%- if (message["role"] == "user") != (ns.index % 2 == 0) %}\
            {{- raise_exception("After the optional system message, conversation roles must alternate user/assistant/user/assistant/...") }}\
            {%- endif %}{%- set ns.index = ns.index + 1 %}{%- endfor %}{{- bos_token }}\
            {%- for message in loop_messages %}{%- if message["role"] == "user" %}{%- if loop.last and system_message is defined %}\
            {{- "[INST]" + system_message + "\n\n" + message["content"] + "[/INST]" }}{%- else %}{{- "[INST]" + message["content"] + "[/INST]" }}\
            {%- endif %}{%- elif message["role"] == "assistant" %}{{- message["content"] + eos_token }}\
            {%- else %}{{- raise_exception("Only user and assistant roles are supported, with the exception of an initial optional system message!") }}\
            {%- endif %}{%- endfor %}
            """
        ),
        (
            "llama-2",
            """
            {% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}\
            {% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}\
            {% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\(alternate){% endif %}\
            {% if loop.index0 == 0 and system_message != false %}{% set content = '<<SYS>>\n' + system_message + '\n<</SYS>>\n\n' + message['content'] %}\
            {% else %}{% set content = message['content'] %}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + content | trim + ' [/INST]' }}\
            {% elif message['role'] == 'assistant' %}{{ ' ' + content | trim + ' ' }}{% endif %}{% endfor %}
            """
        ),
        (
            "phi",
            """
            {% if messages[0]['role'] == 'system' %}{{ '<|system|>\n' + messages[0]['content'] + '<|end|>\n' }}{% endif %}\
            {% for message in messages %}{% if message['role'] == 'user' %}{{ '<|user|>\n' + message['content'] + '<|end|>\n' }}\
            {% elif message['role'] == 'assistant' %}{{ '<|assistant|>\n' + message['content'] + '<|end|>\n' }}{% endif %}{% endfor %}\
            {% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}
            """
        ),
        (
            "command",
            """
            {% if messages[0]['role'] == 'system' %}{% set loop_messages = messages[1:] %}{% set system_message = messages[0]['content'] %}\
            {% else %}{% set loop_messages = messages %}{% set system_message = false %}{% endif %}\
            {% if system_message != false %}{{ '<|START|><|SYSTEM|>' + system_message + '<|END|>' }}{% endif %}\
            {% for message in loop_messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\(alternate){% endif %}\
            {% if message['role'] == 'user' %}{{ '<|START|><|USER|>' + message['content'].strip() + '<|END|>' }}\
            {% elif message['role'] == 'assistant' %}{{ '<|START|><|CHATBOT|>' + message['content'].strip() + '<|END|>' }}{% endif %}{% endfor %}\
            {% if add_generation_prompt %}{{ '<|START|><|CHATBOT|>' }}{% endif %}
            """
        ),
        (
            "deepseek",
            """
            {%- for message in messages %}{%- if message['role'] == 'system' and not loop.first %}{{ raise_exception('Only the first message may be a system message') }}\
            {%- endif %}{%- if message['role'] == 'user' %}{%- if not loop.last and messages[loop.index0 + 1]['role'] == 'user' %}\
            {{ raise_exception('Two user messages in a row') }}{%- endif %}{{- 'User: ' + message['content'] + '\n\n' }}\
            {%- elif message['role'] == 'assistant' %}{%- if loop.first %}{{ raise_exception('The first message must be from the user') }}{%- endif %}\
            {{- 'Assistant: ' + message['content'] + eos_token }}{%- elif message['role'] == 'system' %}{{- message['content'] + '\n\n' }}{%- endif %}{%- endfor %}\
            {%- if add_generation_prompt %}{{- 'Assistant:' }}{%- endif %}
            """
        ),
        (
            "qwen-coder",
            """
            {%- set ns = namespace(asked=false) %}{%- for message in messages %}{%- if message.role == 'user' %}{%- set ns.asked = true %}{%- endif %}{%- endfor %}\
            {%- if not ns.asked %}{{- raise_exception('No user query found in messages.') }}{%- endif %}\
            {%- for message in messages %}{%- if message.role == 'system' and not loop.first %}\
            {{- raise_exception('System message must be at the beginning.') }}{%- endif %}\
            {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{%- endfor %}\
            {%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}{%- endif %}
            """
        ),
        (
            "vicuna",
            """
            {% if messages[0]['role'] == 'system' %}{{ messages[0]['content'] + ' ' }}{% set messages = messages[1:] %}{% endif %}\
            {% for message in messages %}{% if loop.index0 % 2 == 0 and message['role'] != 'user' %}\(alternate){% endif %}\
            {% if loop.index0 % 2 == 1 and message['role'] != 'assistant' %}\(alternate){% endif %}\
            {{ ('USER: ' if message['role'] == 'user' else 'ASSISTANT: ') + message['content'] + ' ' }}{% endfor %}\
            {% if add_generation_prompt %}{{ 'ASSISTANT:' }}{% endif %}
            """
        ),
        (
            "solar",
            """
            {% for message in messages %}{% if message['role'] == 'system' %}{% if loop.first %}{{ '### System:\n' + message['content'] + '\n\n' }}{% else %}\
            {{ raise_exception('system comes first') }}{% endif %}{% elif message['role'] == 'user' %}{% if not loop.first and messages[loop.index0 - 1]['role'] == 'user' %}\
            {{ raise_exception('user after user') }}{% endif %}{{ '### User:\n' + message['content'] + '\n\n' }}{% elif message['role'] == 'assistant' %}\
            {% if loop.first or messages[loop.index0 - 1]['role'] != 'user' %}{{ raise_exception('an answer needs a question') }}{% endif %}\
            {{ '### Assistant:\n' + message['content'] + '\n\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '### Assistant:\n' }}{% endif %}
            """
        ),
    ]

    /// A template that checks the ids of calls.
    static let mistralTools = """
        {%- if tools %}{{- '[AVAILABLE_TOOLS] ' + (tools | tojson) + '[/AVAILABLE_TOOLS]' }}{%- endif %}{%- for message in messages %}\
        {%- if message['role'] == 'user' %}{{- '[INST] ' + message['content'] + ' [/INST]' }}\
        {%- elif message['role'] == 'assistant' and message.tool_calls %}{{- '[TOOL_CALLS] [' }}{%- for call in message.tool_calls %}\
        {%- if call.id | length != 9 %}{{- raise_exception('Tool call IDs should be alphanumeric strings with length 9!') }}{%- endif %}\
        {{- '{"name": "' + call.function.name + '", "arguments": ' + (call.function.arguments | tojson) + ', "id": "' + call.id + '"}' }}{%- endfor %}{{- ']' + eos_token }}\
        {%- elif message['role'] == 'assistant' %}{{- message['content'] + eos_token }}\
        {%- elif message['role'] == 'tool' %}{%- if message.tool_call_id | length != 9 %}\
        {{- raise_exception('Tool call IDs should be alphanumeric strings with length 9!') }}{%- endif %}\
        {{- '[TOOL_RESULTS] {"content": ' + message['content'] + ', "call_id": "' + message.tool_call_id + '"}[/TOOL_RESULTS]' }}{%- endif %}{%- endfor %}
        """
}
#endif
